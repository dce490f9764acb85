// Command scenario does the steps of ../scenario.md with azcosmos, and then queries.go and ranges.go.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const text = "é 日本 😀 שלום \u2028 \\ \" /"

var oddIDs = []string{"a b", "100%", "a+b&c=d@e:f", "'single' and \"double\"", "é日本😀", "a.b..c", "a;b,c$d!e*f(g)"}

type item map[string]any

type scenario struct {
	ctx      context.Context
	client   *azcosmos.Client
	name     string
	database *azcosmos.DatabaseClient
	single   *azcosmos.ContainerClient
	levels   *azcosmos.ContainerClient
	etag     azcore.ETag
}

type step struct {
	name string
	run  func() error
}

// refused turns the expected refusal into success and everything else into an error.
func refused(status int, err error) error {
	var response *azcore.ResponseError
	if errors.As(err, &response) && response.StatusCode == status {
		return nil
	}
	return fmt.Errorf("expected a refusal with %d, got: %v", status, err)
}

// must names the first condition that does not hold.
func must(condition bool, what string) error {
	if condition {
		return nil
	}
	return errors.New("not true: " + what)
}

func body(value item) []byte {
	bytes, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return bytes
}

func key(value string) azcosmos.PartitionKey {
	return azcosmos.NewPartitionKeyString(value)
}

// full asks for the item in the answer to a write, which this SDK otherwise leaves out.
func full() *azcosmos.ItemOptions {
	return &azcosmos.ItemOptions{EnableContentResponseOnWrite: true}
}

func (s *scenario) createDatabase() error {
	if _, err := s.client.CreateDatabase(s.ctx, azcosmos.DatabaseProperties{ID: s.name}, nil); err != nil {
		return err
	}
	_, err := s.client.CreateDatabase(s.ctx, azcosmos.DatabaseProperties{ID: s.name}, nil)
	return refused(http.StatusConflict, err)
}

// This SDK lists databases by a query only, so the list is left out.
func (s *scenario) readDatabase() (err error) {
	if s.database, err = s.client.NewDatabase(s.name); err != nil {
		return err
	}
	read, err := s.database.Read(s.ctx, nil)
	if err != nil {
		return err
	}
	return must(read.DatabaseProperties.ID == s.name, "the database's id")
}

func (s *scenario) createContainer() (err error) {
	definition := azcosmos.ContainerProperties{
		ID:                     "single",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
	}
	if _, err = s.database.CreateContainer(s.ctx, definition, nil); err != nil {
		return err
	}
	if s.single, err = s.database.NewContainer("single"); err != nil {
		return err
	}
	read, err := s.single.Read(s.ctx, nil)
	if err != nil {
		return err
	}
	// The service writes the mode in lower case, this SDK's constant does not.
	policy := read.ContainerProperties.IndexingPolicy
	return must(policy != nil && strings.EqualFold(string(policy.IndexingMode), string(azcosmos.IndexingModeConsistent)) &&
		len(policy.IncludedPaths) == 1 && policy.IncludedPaths[0].Path == "/*", "the default indexing policy")
}

func (s *scenario) createHierarchicalContainer() (err error) {
	definition := azcosmos.ContainerProperties{
		ID: "levels",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/tenant", "/user", "/session"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	}
	if _, err = s.database.CreateContainer(s.ctx, definition, nil); err != nil {
		return err
	}
	if s.levels, err = s.database.NewContainer("levels"); err != nil {
		return err
	}
	_, err = s.database.CreateContainer(s.ctx, definition, nil)
	return refused(http.StatusConflict, err)
}

func (s *scenario) createItem() error {
	created, err := s.single.CreateItem(s.ctx, key("a"), body(item{"id": "1", "pk": "a", "n": 1, "text": text}), nil)
	s.etag = created.ETag
	if err != nil {
		return err
	}
	if len(created.Value) != 0 {
		return errors.New("asked for no content and got some")
	}
	return must(s.etag != "" && created.SessionToken != nil && *created.SessionToken != "", "an etag and a session token")
}

func (s *scenario) read(id string, pk azcosmos.PartitionKey) (item, error) {
	response, err := s.single.ReadItem(s.ctx, pk, id, nil)
	if err != nil {
		return nil, err
	}
	var found item
	return found, json.Unmarshal(response.Value, &found)
}

func (s *scenario) readItem() error {
	found, err := s.read("1", key("a"))
	if err != nil {
		return err
	}
	return must(found["text"] == text && found["n"] == 1.0 && found["_etag"] == string(s.etag), "the item as it was sent")
}

func (s *scenario) readAbsentItem() error {
	_, err := s.read("none", key("a"))
	return refused(http.StatusNotFound, err)
}

func (s *scenario) createExistingItem() error {
	_, err := s.single.CreateItem(s.ctx, key("a"), body(item{"id": "1", "pk": "a"}), nil)
	return refused(http.StatusConflict, err)
}

func (s *scenario) replaceItem() error {
	replaced, err := s.single.ReplaceItem(s.ctx, key("a"), "1", body(item{"id": "1", "pk": "a", "n": 2}), full())
	if err != nil {
		return err
	}
	return must(replaced.ETag != s.etag && len(replaced.Value) > 0, "a new etag and the item")
}

func (s *scenario) replaceOnCondition() error {
	options := &azcosmos.ItemOptions{IfMatchEtag: &s.etag}
	_, err := s.single.ReplaceItem(s.ctx, key("a"), "1", body(item{"id": "1", "pk": "a", "n": 9}), options)
	if err = refused(http.StatusPreconditionFailed, err); err != nil {
		return err
	}
	found, err := s.read("1", key("a"))
	if err != nil {
		return err
	}
	return must(found["n"] == 2.0, "the item as before")
}

func (s *scenario) upsertItems() error {
	first, err := s.single.UpsertItem(s.ctx, key("a"), body(item{"id": "1", "pk": "a", "n": 3}), nil)
	if err != nil {
		return err
	}
	second, err := s.single.UpsertItem(s.ctx, key("a"), body(item{"id": "2", "pk": "a"}), nil)
	if err != nil {
		return err
	}
	return must(first.RawResponse.StatusCode == 200 && second.RawResponse.StatusCode == 201, "200, then 201")
}

func (s *scenario) oddIDs() error {
	for _, id := range oddIDs {
		if _, err := s.single.CreateItem(s.ctx, key("a"), body(item{"id": id, "pk": "a"}), nil); err != nil {
			return err
		}
		found, err := s.read(id, key("a"))
		if err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		if found["id"] != id {
			return fmt.Errorf("%s came back as %s", id, found["id"])
		}
		if _, err = s.single.DeleteItem(s.ctx, key("a"), id, nil); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
	}
	return nil
}

// This SDK has no undefined key, so an item without the key's property is left out.
func (s *scenario) nullKey() error {
	if _, err := s.single.CreateItem(s.ctx, azcosmos.NullPartitionKey, body(item{"id": "null", "pk": nil}), nil); err != nil {
		return err
	}
	_, err := s.read("null", azcosmos.NullPartitionKey)
	return err
}

func (s *scenario) hierarchicalItem() error {
	of := func(session float64) azcosmos.PartitionKey {
		return azcosmos.NewPartitionKey().AppendString("t").AppendString("u").AppendNumber(session)
	}
	value := body(item{"id": "1", "tenant": "t", "user": "u", "session": 5})
	if _, err := s.levels.CreateItem(s.ctx, of(5), value, nil); err != nil {
		return err
	}
	if _, err := s.levels.ReadItem(s.ctx, of(5), "1", nil); err != nil {
		return err
	}
	_, err := s.levels.ReadItem(s.ctx, of(6), "1", nil)
	return refused(http.StatusNotFound, err)
}

func (s *scenario) readByPages() error {
	for n := 0; n < 25; n++ {
		value := body(item{"id": fmt.Sprintf("many-%d", n), "pk": "many"})
		if _, err := s.single.CreateItem(s.ctx, key("many"), value, nil); err != nil {
			return err
		}
	}
	seen := map[string]bool{}
	count := 0
	pager := s.single.NewQueryItemsPager("SELECT * FROM c", key("many"), &azcosmos.QueryOptions{PageSizeHint: 10})
	for pager.More() {
		page, err := pager.NextPage(s.ctx)
		if err != nil {
			return err
		}
		if len(page.Items) > 10 {
			return fmt.Errorf("a page of %d", len(page.Items))
		}
		for _, bytes := range page.Items {
			var found item
			if err = json.Unmarshal(bytes, &found); err != nil {
				return err
			}
			seen[found["id"].(string)] = true
			count++
		}
	}
	return must(count == 25 && len(seen) == 25, "each of 25 items, once")
}

func (s *scenario) replaceContainer() error {
	read, err := s.single.Read(s.ctx, nil)
	if err != nil {
		return err
	}
	ttl := int32(3600)
	read.ContainerProperties.DefaultTimeToLive = &ttl
	if _, err = s.single.Replace(s.ctx, *read.ContainerProperties, nil); err != nil {
		return err
	}
	if read, err = s.single.Read(s.ctx, nil); err != nil {
		return err
	}
	found := read.ContainerProperties.DefaultTimeToLive
	return must(found != nil && *found == ttl, "the time to live that was set")
}

// azcosmos has no move.
func (s *scenario) patchItem() error {
	first := item{"id": "1", "pk": "a", "n": 3, "list": []int{1}, "old": "text"}
	if _, err := s.single.UpsertItem(s.ctx, key("a"), body(first), nil); err != nil {
		return err
	}
	changes := azcosmos.PatchOperations{}
	changes.AppendAdd("/list/-", 2)
	changes.AppendSet("/a~1b", "x")
	changes.AppendReplace("/list/0", 0)
	changes.AppendIncrement("/n", 2)
	changes.AppendRemove("/old")
	changes.SetCondition("from c where c.n = 3")
	if _, err := s.single.PatchItem(s.ctx, key("a"), "1", changes, nil); err != nil {
		return err
	}
	_, err := s.single.PatchItem(s.ctx, key("a"), "1", changes, nil)
	if err = refused(http.StatusPreconditionFailed, err); err != nil {
		return err
	}
	found, err := s.read("1", key("a"))
	if err != nil {
		return err
	}
	_, old := found["old"]
	list := fmt.Sprint(found["list"])
	return must(found["n"] == 5.0 && list == "[0 2]" && !old, "the patched item: "+fmt.Sprint(found))
}

// statuses tells what became of each operation.
func statuses(response azcosmos.TransactionalBatchResponse) string {
	found := []int32{}
	for _, one := range response.OperationResults {
		found = append(found, one.StatusCode)
	}
	return fmt.Sprint(response.Success, found)
}

func (s *scenario) batch() error {
	all := s.single.NewTransactionalBatch(key("a"))
	all.CreateItem(body(item{"id": "b1", "pk": "a", "n": 1}), nil)
	all.UpsertItem(body(item{"id": "b1", "pk": "a", "n": 2}), nil)
	all.ReplaceItem("b1", body(item{"id": "b1", "pk": "a", "n": 3}), nil)
	all.ReadItem("b1", nil)
	all.CreateItem(body(item{"id": "b2", "pk": "a"}), nil)
	all.DeleteItem("b2", nil)
	done, err := s.single.ExecuteTransactionalBatch(s.ctx, all, nil)
	if err != nil {
		return err
	}
	if err = must(statuses(done) == "true [201 200 200 200 201 204]", "the batch: "+statuses(done)); err != nil {
		return err
	}
	found := item{}
	if err = json.Unmarshal(done.OperationResults[3].ResourceBody, &found); err != nil {
		return err
	}
	old := azcore.ETag("old")
	wrong := s.single.NewTransactionalBatch(key("a"))
	wrong.CreateItem(body(item{"id": "b3", "pk": "a"}), nil)
	wrong.ReplaceItem("b1", body(item{"id": "b1", "pk": "a"}), &azcosmos.TransactionalBatchItemOptions{IfMatchETag: &old})
	undone, err := s.single.ExecuteTransactionalBatch(s.ctx, wrong, nil)
	if err != nil {
		return err
	}
	if err = must(found["n"] == 3.0 && statuses(undone) == "false [424 412]", "the batches: "+statuses(undone)); err != nil {
		return err
	}
	_, err = s.read("b3", key("a"))
	if err = refused(http.StatusNotFound, err); err != nil {
		return err
	}
	_, err = s.single.DeleteItem(s.ctx, key("a"), "b1", nil)
	return err
}

func (s *scenario) deleteItem() error {
	if _, err := s.single.DeleteItem(s.ctx, key("a"), "1", nil); err != nil {
		return err
	}
	_, err := s.read("1", key("a"))
	if err = refused(http.StatusNotFound, err); err != nil {
		return err
	}
	_, err = s.single.DeleteItem(s.ctx, key("a"), "1", nil)
	return refused(http.StatusNotFound, err)
}

func (s *scenario) deleteContainer() error {
	if _, err := s.levels.Delete(s.ctx, nil); err != nil {
		return err
	}
	_, err := s.levels.Read(s.ctx, nil)
	return refused(http.StatusNotFound, err)
}

func (s *scenario) deleteDatabase() error {
	if _, err := s.database.Delete(s.ctx, nil); err != nil {
		return err
	}
	_, err := s.database.Read(s.ctx, nil)
	return refused(http.StatusNotFound, err)
}

// whole has our server join ranges: this SDK does not, and the service refuses what would have to be joined.
type whole struct{}

func (whole) Do(request *policy.Request) (*http.Response, error) {
	request.Raw().Header.Set("x-orrery-whole", "true")
	return request.Next()
}

// open makes a client that trusts the server's certificate.
func open() (*azcosmos.Client, error) {
	transport, err := trusting()
	if err != nil {
		return nil, err
	}
	credential, err := azcosmos.NewKeyCredential(os.Getenv("ORRERY_KEY"))
	if err != nil {
		return nil, err
	}
	options := &azcosmos.ClientOptions{}
	options.Transport = transport
	options.PerCallPolicies = []policy.Policy{whole{}}
	return azcosmos.NewClientWithKey(os.Getenv("ORRERY_ENDPOINT"), credential, options)
}

func main() {
	client, err := open()
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	s := &scenario{ctx: context.Background(), client: client, name: fmt.Sprintf("scenario-go-%d", time.Now().UnixNano())}
	steps := []step{
		{"create database", s.createDatabase}, {"read database", s.readDatabase},
		{"create container", s.createContainer}, {"create hierarchical container", s.createHierarchicalContainer},
		{"create item", s.createItem}, {"read item", s.readItem}, {"read absent item", s.readAbsentItem},
		{"create existing item", s.createExistingItem}, {"replace item", s.replaceItem},
		{"replace on condition", s.replaceOnCondition}, {"upsert items", s.upsertItems}, {"odd ids", s.oddIDs},
		{"null key", s.nullKey}, {"hierarchical item", s.hierarchicalItem}, {"read by pages", s.readByPages},
		{"replace container", s.replaceContainer}, {"patch item", s.patchItem}, {"batch", s.batch},
		{"delete item", s.deleteItem},
		{"delete container", s.deleteContainer}, {"delete database", s.deleteDatabase},
	}
	passed, failed := queries(client)
	more, fewer := splitRanges(client)
	passed, failed = passed+more, failed+fewer
	for _, step := range steps {
		if err := step.run(); err != nil {
			fmt.Printf("FAILED %s: %v\n", step.name, err)
			failed++
		} else {
			passed++
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
