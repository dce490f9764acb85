// Ranges that split and merge under azcosmos, whose queries name no range: what it asks next must be found all the same.
package main

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

const rangeItems = 60

type ranges struct {
	ctx      context.Context
	http     *http.Client
	name     string
	database *azcosmos.DatabaseClient
}

// trusting makes an HTTP client for which the server's own certificate is good.
func trusting() (*http.Client, error) {
	pool := x509.NewCertPool()
	if path := os.Getenv("ORRERY_CERTIFICATE"); path != "" {
		bytes, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		pool.AppendCertsFromPEM(bytes)
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}}, nil
}

// admin splits or merges: the SDK has no word for it, so it is signed by hand. The ids of the ranges then.
func (r *ranges) admin(command, container string, wanted item) ([]string, error) {
	date := time.Now().UTC().Format(http.TimeFormat)
	key, err := base64.StdEncoding.DecodeString(os.Getenv("ORRERY_KEY"))
	if err != nil {
		return nil, err
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "post\n_orrery\n_orrery/%s\n%s\n\n", command, strings.ToLower(date))
	wanted["container"] = "dbs/" + r.name + "/colls/" + container
	target := strings.TrimRight(os.Getenv("ORRERY_ENDPOINT"), "/") + "/_orrery/" + command
	request, err := http.NewRequestWithContext(r.ctx, http.MethodPost, target, bytes.NewReader(body(wanted)))
	if err != nil {
		return nil, err
	}
	signature := base64.StdEncoding.EncodeToString(mac.Sum(nil))
	request.Header.Set("authorization", url.QueryEscape("type=master&ver=1.0&sig="+signature))
	request.Header.Set("x-ms-date", date)
	answer, err := r.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: %d %s %v", command, answer.StatusCode, content, err)
	}
	var list struct{ Ranges []struct{ ID string } }
	ids := []string{}
	err = json.Unmarshal(content, &list)
	for _, one := range list.Ranges {
		ids = append(ids, one.ID)
	}
	return ids, err
}

// splitAndMerge splits a range, and makes one of all there are.
func (r *ranges) splitAndMerge(container string) error {
	live, err := r.admin("split", container, item{})
	if err == nil {
		_, err = r.admin("merge", container, item{"ranges": live})
	}
	return err
}

// query gives the numbers of what the pages have, with something done behind each of the first two.
func (r *ranges) query(container *azcosmos.ContainerClient, key azcosmos.PartitionKey, between func() error) ([]int, error) {
	found := []int{}
	pager := container.NewQueryItemsPager("SELECT c.n FROM c", key, &azcosmos.QueryOptions{PageSizeHint: 7})
	for at := 0; pager.More(); at++ {
		page, err := pager.NextPage(r.ctx)
		if err != nil {
			return nil, err
		}
		for _, bytes := range page.Items {
			var row struct{ N int }
			if err = json.Unmarshal(bytes, &row); err != nil {
				return nil, err
			}
			found = append(found, row.N)
		}
		if at < 2 {
			if err = between(); err != nil {
				return nil, err
			}
		}
	}
	return found, nil
}

// eachOnce names what is missing or repeated.
func eachOnce(found []int) error {
	seen := map[int]int{}
	for _, n := range found {
		seen[n]++
	}
	return must(len(found) == rangeItems && len(seen) == rangeItems, fmt.Sprint("each once: ", found))
}

func (r *ranges) ofKeys() error {
	definition := azcosmos.ContainerProperties{
		ID: "keys", PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/pk"}, Version: 2},
	}
	throughput := azcosmos.NewManualThroughputProperties(12000)
	if _, err := r.database.CreateContainer(r.ctx, definition, &azcosmos.CreateContainerOptions{ThroughputProperties: &throughput}); err != nil {
		return err
	}
	container, err := r.database.NewContainer("keys")
	if err != nil {
		return err
	}
	for n := 0; n < rangeItems; n++ {
		pk := fmt.Sprint("p", n%20)
		if _, err = container.CreateItem(r.ctx, key(pk), body(item{"id": fmt.Sprint(n), "pk": pk, "n": n}), nil); err != nil {
			return err
		}
	}
	found, err := r.query(container, azcosmos.NewPartitionKey(), func() error { return r.splitAndMerge("keys") })
	if err != nil {
		return err
	}
	return eachOnce(found)
}

func (r *ranges) ofLevels() error {
	definition := azcosmos.ContainerProperties{
		ID: "levels",
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{
			Paths: []string{"/a", "/b"}, Kind: azcosmos.PartitionKeyKindMultiHash, Version: 2,
		},
	}
	if _, err := r.database.CreateContainer(r.ctx, definition, nil); err != nil {
		return err
	}
	container, err := r.database.NewContainer("levels")
	if err != nil {
		return err
	}
	for n := 0; n < rangeItems; n++ {
		whole := azcosmos.NewPartitionKey().AppendString("one").AppendString(fmt.Sprint("b", n))
		value := body(item{"id": fmt.Sprint(n), "a": "one", "b": fmt.Sprint("b", n), "n": n})
		if _, err = container.CreateItem(r.ctx, whole, value, nil); err != nil {
			return err
		}
	}
	next := 0
	inside := func() error {
		_, err := r.admin("split", "levels", item{"range": fmt.Sprint(next), "at": "median"})
		next++
		return err
	}
	found, err := r.query(container, azcosmos.NewPartitionKey().AppendString("one"), inside)
	if err != nil {
		return err
	}
	return eachOnce(found)
}

// splitRanges runs what follows on a database of its own: how many passed and failed.
func splitRanges(client *azcosmos.Client) (passed, failed int) {
	r := &ranges{ctx: context.Background(), name: fmt.Sprintf("ranges-go-%d", time.Now().UnixNano())}
	prepare := func() (err error) {
		if r.http, err = trusting(); err != nil {
			return err
		}
		if _, err = client.CreateDatabase(r.ctx, azcosmos.DatabaseProperties{ID: r.name}, nil); err != nil {
			return err
		}
		r.database, err = client.NewDatabase(r.name)
		return err
	}
	drop := func() error {
		_, err := r.database.Delete(r.ctx, nil)
		return err
	}
	for _, step := range []step{
		{"a database for ranges", prepare}, {"a query over splits and merges", r.ofKeys},
		{"a first level of a key over splits inside it", r.ofLevels}, {"the database is dropped", drop},
	} {
		if err := step.run(); err != nil {
			fmt.Printf("FAILED %s: %v\n", step.name, err)
			failed++
		} else {
			passed++
		}
	}
	return passed, failed
}
