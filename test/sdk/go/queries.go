// Queries with azcosmos: the table of ../queries.json, then pages, metrics and lists.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

type entry struct {
	Name       string
	Query      string
	Container  string
	Key        []string
	Parameters []struct {
		Name  string
		Value any
	}
	Ordered bool
	Rows    json.RawMessage
	Count   *int
	Error   *struct {
		Status  int
		Message string
	}
}

type queryTable struct {
	Definition json.RawMessage
	Levels     json.RawMessage
	Items      []item
	Queries    []entry
}

type querySuite struct {
	ctx        context.Context
	client     *azcosmos.Client
	name       string
	table      queryTable
	database   *azcosmos.DatabaseClient
	containers map[string]*azcosmos.ContainerClient
	passed     int
	failed     int
}

// canonical is text that is the same for values that are: members sorted, numbers to twelve digits.
func canonical(value any) string {
	switch value := value.(type) {
	case float64:
		return strconv.FormatFloat(value, 'g', 12, 64)
	case []any:
		parts := make([]string, len(value))
		for i, one := range value {
			parts[i] = canonical(one)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case map[string]any:
		parts := make([]string, 0, len(value))
		for name, one := range value {
			parts = append(parts, strconv.Quote(name)+":"+canonical(one))
		}
		sort.Strings(parts)
		return "{" + strings.Join(parts, ",") + "}"
	default:
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
}

// plain is an item as it was before the server added to it, or another row as it is.
func plain(row any) any {
	object, ok := row.(map[string]any)
	if !ok {
		return row
	}
	for _, name := range []string{"_rid", "_self", "_etag", "_attachments", "_ts"} {
		delete(object, name)
	}
	return object
}

// expected is what the table's entry names.
func (s *querySuite) expected(e *entry) ([]any, error) {
	var rows []any
	if bytes.Equal(e.Rows, []byte(`"items"`)) {
		for _, one := range s.table.Items {
			rows = append(rows, map[string]any(one))
		}
		return rows, nil
	}
	err := json.Unmarshal(e.Rows, &rows)
	return rows, err
}

func (s *querySuite) check(e *entry, rows []any) error {
	if e.Count != nil {
		return must(len(rows) == *e.Count, fmt.Sprintf("%d rows, and not %d", *e.Count, len(rows)))
	}
	wanted, err := s.expected(e)
	if err != nil {
		return err
	}
	found, expected := make([]string, 0), make([]string, 0)
	for _, row := range rows {
		found = append(found, canonical(plain(row)))
	}
	for _, row := range wanted {
		expected = append(expected, canonical(row))
	}
	if !e.Ordered {
		sort.Strings(found)
		sort.Strings(expected)
	}
	if !reflect.DeepEqual(found, expected) {
		return fmt.Errorf("\n found    %s\n expected %s", found, expected)
	}
	return nil
}

// keyOf is the entry's key or the part of one that it has. No component at all means every key.
func keyOf(e *entry) azcosmos.PartitionKey {
	of := azcosmos.NewPartitionKey()
	for _, component := range e.Key {
		of = of.AppendString(component)
	}
	return of
}

func optionsOf(e *entry, size int32) *azcosmos.QueryOptions {
	options := &azcosmos.QueryOptions{PageSizeHint: size}
	for _, parameter := range e.Parameters {
		options.QueryParameters = append(options.QueryParameters, azcosmos.QueryParameter{Name: parameter.Name, Value: parameter.Value})
	}
	return options
}

func rowsOf(page azcosmos.QueryItemsResponse) ([]any, error) {
	var rows []any
	for _, text := range page.Items {
		var row any
		if err := json.Unmarshal(text, &row); err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (s *querySuite) rows(e *entry, where string, size int32) (rows []any, err error) {
	pager := s.containers[where].NewQueryItemsPager(e.Query, keyOf(e), optionsOf(e, size))
	for pager.More() {
		page, err := pager.NextPage(s.ctx)
		if err != nil {
			return nil, err
		}
		found, err := rowsOf(page)
		if err != nil {
			return nil, err
		}
		if size > 0 && len(found) > int(size) {
			return nil, fmt.Errorf("a page of %d", len(found))
		}
		rows = append(rows, found...)
	}
	return rows, nil
}

func (s *querySuite) answer(e *entry, where string, size int32) error {
	rows, err := s.rows(e, where, size)
	if e.Error == nil {
		if err != nil {
			return err
		}
		return s.check(e, rows)
	}
	if failed := refused(e.Error.Status, err); failed != nil {
		return failed
	}
	var response *azcore.ResponseError
	errors.As(err, &response)
	return must(strings.Contains(response.Error(), e.Error.Message), e.Error.Message+" in "+response.Error())
}

func (s *querySuite) attempt(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Printf("FAILED %s: %v\n", name, err)
		s.failed++
	} else {
		s.passed++
	}
}

func (s *querySuite) runTable() {
	for i := range s.table.Queries {
		e := &s.table.Queries[i]
		places := []string{"one", "three"}
		if e.Container != "" {
			places = []string{e.Container}
		}
		for _, where := range places {
			s.attempt(e.Name+" of "+where, func() error { return s.answer(e, where, 0) })
			s.attempt(e.Name+" of "+where+", by pages of two", func() error { return s.answer(e, where, 2) })
		}
	}
}

// resumed reads each page with a client of its own, which knows nothing but the token.
func (s *querySuite) resumed(e *entry, where string) error {
	var rows []any
	options := optionsOf(e, 3)
	for pages := 0; ; pages++ {
		client, err := open()
		if err != nil {
			return err
		}
		container, err := client.NewContainer(s.name, where)
		if err != nil {
			return err
		}
		page, err := container.NewQueryItemsPager(e.Query, keyOf(e), options).NextPage(s.ctx)
		if err != nil {
			return err
		}
		found, err := rowsOf(page)
		if err != nil {
			return err
		}
		if len(found) > 3 || pages > 100 {
			return fmt.Errorf("page %d has %d", pages, len(found))
		}
		rows = append(rows, found...)
		if options.ContinuationToken = page.ContinuationToken; page.ContinuationToken == nil {
			break
		}
	}
	return s.check(e, rows)
}

func (s *querySuite) runPages() {
	for _, name := range []string{"everything", "values", "ORDER BY", "ORDER BY of two", "ORDER BY of every type", "OFFSET LIMIT",
		"TOP of an order", "JOIN", "DISTINCT values", "everything of a key", "a filter and an order of a key"} {
		for i := range s.table.Queries {
			e := &s.table.Queries[i]
			if e.Name != name {
				continue
			}
			for _, where := range []string{"one", "three"} {
				s.attempt(name+" of "+where+" goes on in another client", func() error { return s.resumed(e, where) })
			}
		}
	}
}

// metrics come with every page: this SDK always asks for them.
func (s *querySuite) metrics() error {
	options := &azcosmos.QueryOptions{PopulateIndexMetrics: true}
	page, err := s.containers["one"].NewQueryItemsPager("SELECT * FROM c WHERE c.radius > 1000", azcosmos.NewPartitionKey(), options).NextPage(s.ctx)
	if err != nil {
		return err
	}
	if page.QueryMetrics == nil {
		return errors.New("no metrics")
	}
	return must(strings.Contains(*page.QueryMetrics, fmt.Sprintf("outputDocumentCount=%d", len(page.Items))), "the rows' number in "+*page.QueryMetrics)
}

func (s *querySuite) queryDatabases() error {
	options := &azcosmos.QueryDatabasesOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@id", Value: s.name}}}
	page, err := s.client.NewQueryDatabasesPager("SELECT * FROM r WHERE r.id = @id", options).NextPage(s.ctx)
	if err != nil {
		return err
	}
	return must(len(page.Databases) == 1 && page.Databases[0].ID == s.name, "the database by its id")
}

func (s *querySuite) queryContainers() error {
	page, err := s.database.NewQueryContainersPager("SELECT * FROM r WHERE r.id IN ('one', 'three')", nil).NextPage(s.ctx)
	if err != nil {
		return err
	}
	return must(len(page.Containers) == 2, "two containers by their ids")
}

func (s *querySuite) filled(id string, definition json.RawMessage, levels int, throughput int32) error {
	var properties azcosmos.ContainerProperties
	if err := json.Unmarshal(definition, &properties); err != nil {
		return err
	}
	properties.ID = id
	offer := azcosmos.NewManualThroughputProperties(throughput)
	if _, err := s.database.CreateContainer(s.ctx, properties, &azcosmos.CreateContainerOptions{ThroughputProperties: &offer}); err != nil {
		return err
	}
	container, err := s.database.NewContainer(id)
	if err != nil {
		return err
	}
	s.containers[id] = container
	for _, one := range s.table.Items {
		of := keyOf(&entry{Key: []string{one["planet"].(string), one["id"].(string)}[:levels]})
		if _, err = container.CreateItem(s.ctx, of, body(one), nil); err != nil {
			return err
		}
	}
	return nil
}

func (s *querySuite) prepare() (err error) {
	text, err := os.ReadFile(os.Getenv("ORRERY_QUERIES"))
	if err != nil {
		return err
	}
	if err = json.Unmarshal(text, &s.table); err != nil {
		return err
	}
	if _, err = s.client.CreateDatabase(s.ctx, azcosmos.DatabaseProperties{ID: s.name}, nil); err != nil {
		return err
	}
	if s.database, err = s.client.NewDatabase(s.name); err != nil {
		return err
	}
	if err = s.filled("one", s.table.Definition, 1, 400); err != nil {
		return err
	}
	if err = s.filled("three", s.table.Definition, 1, 18000); err != nil {
		return err
	}
	return s.filled("levels", s.table.Levels, 2, 18000)
}

// queries runs the suite and counts.
func queries(client *azcosmos.Client) (passed, failed int) {
	s := &querySuite{ctx: context.Background(), client: client, name: fmt.Sprintf("queries-go-%d", time.Now().UnixNano()),
		containers: map[string]*azcosmos.ContainerClient{}}
	s.attempt("containers for queries", s.prepare)
	if s.failed > 0 {
		return s.passed, s.failed
	}
	s.runTable()
	s.runPages()
	s.attempt("metrics", s.metrics)
	s.attempt("databases are found by a query", s.queryDatabases)
	s.attempt("containers are found by a query", s.queryContainers)
	s.attempt("the database is deleted", func() error {
		_, err := s.database.Delete(s.ctx, nil)
		return err
	})
	return s.passed, s.failed
}
