package simulation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// content identifies what a deal says; number 0 is none. The complete record follows from it, children included, so a
// mixture of two contents equals neither.
type content struct {
	number int
	priced bool // it links to the priced deal that it became
}

// breakage is a fault that makes a record unreadable.
type breakage string

const (
	whole      breakage = ""
	repeated   breakage = "a name stands twice in the record"
	deepRepeat breakage = "a name stands twice deep in the record"
	nameless   breakage = "the id is no number"
)

// render is a deal's record. spelling picks one of the ways to write the same content.
func render(feed api.Feed, id int64, c content, updated time.Time, broken breakage, spelling int) []byte {
	var b bytes.Buffer
	idText := strconv.FormatInt(id, 10)
	if broken == nameless {
		idText = strconv.Quote(idText)
	}
	fmt.Fprintf(&b, `{"%s":%s,"market":"%s","message":"%s"`, feed.IDKey(), idText, feed.Market, stamp(c))
	if broken == repeated {
		fmt.Fprintf(&b, `,"%s":%s`, feed.IDKey(), idText)
	}
	if broken == deepRepeat {
		b.WriteString(`,"borrower":{"name":"A","name":"B"}`)
	}
	switch feed.Service + "/" + api.Service(feed.Kind) {
	case "bond/priced":
		fmt.Fprintf(&b, `,"nominal":{"amount":%s},"banks":[%s]`, number(c.number, spelling), entries(c, `{"name":"%s"}`))
		fmt.Fprintf(&b, `,"stats":{"geography":{%s}}`, entries(c, `"%s":1.5`))
	case "bond/expected":
		link := ""
		if c.priced {
			link = fmt.Sprintf(`,"_links":{"pricedDeal":{"href":"/v3/bond/ig/priced-deal/%d"}}`, id)
		}
		fmt.Fprintf(&b, `,"regions":[%s],"_embedded":{"tranches":[{"name":"%s"%s}]}`, entries(c, `"%s"`), stamp(c), link)
		fmt.Fprintf(&b, `,"dealHistory":[%s]`, entries(c, `{"message":"%s"}`))
	case "loan/priced":
		fmt.Fprintf(&b, `,"dealTotal":{"currencies":[%s]}`, entries(c, `{"currency":"%s","amount":`+number(c.number, spelling)+`}`))
		fmt.Fprintf(&b, `,"tranches":[{"id":1,"name":"first","banks":[%s]},{"name":"%s"}]`, entries(c, `{"name":"%s"}`), stamp(c))
	case "loan/expected":
		fmt.Fprintf(&b, `,"borrower":{"sponsors":{"sponsors":[%s]}},"tranches":[{"name":"%s"}]`, entries(c, `{"name":"%s"}`), stamp(c))
	}
	fmt.Fprintf(&b, `,"_links":{"self":{%s"href":"%s"}`, title(spelling), feed.DealPath(id))
	if feed.Service == api.Loan && c.priced {
		fmt.Fprintf(&b, `,"pricedDeal":{"href":"/v3/loan/ll/priced-deal/%d"}`, id)
	}
	if feed.HasUpdatedSince() {
		fmt.Fprintf(&b, `,"updatedSince":{"href":"%s?updatedSince=%s"}`, feed.Path(), updated.UTC().Format("2006-01-02T15:04:05Z"))
	}
	b.WriteString(`}}`)
	return b.Bytes()
}

// stamp returns a content's mark, which is in every text of the deal.
func stamp(c content) string {
	if c.priced {
		return fmt.Sprintf("c%dp", c.number)
	}
	return fmt.Sprintf("c%d", c.number)
}

// entries are the deal's children: between none and three, each with the stamp.
func entries(c content, form string) string {
	children := make([]string, c.number%4)
	for i := range children {
		children[i] = fmt.Sprintf(form, fmt.Sprintf("%s-%d", stamp(c), i))
	}
	return strings.Join(children, ",")
}

func number(n, spelling int) string {
	return fmt.Sprintf([]string{"%d", "%d.0", "%de0", "%d.00"}[spelling%4], n)
}

func title(spelling int) string {
	if spelling%3 == 0 {
		return ""
	}
	return fmt.Sprintf(`"title":"answer %d",`, spelling)
}

var stampForm = regexp.MustCompile(`"message":"c(\d+)(p?)"`)

// contentOf returns the content of a payload. It fails if the payload is not exactly that content.
func contentOf(feed api.Feed, id int64, payload string) (content, error) {
	m := stampForm.FindStringSubmatch(payload)
	if m == nil {
		return content{}, fmt.Errorf("the payload has no stamp: %s", payload)
	}
	n, err := strconv.Atoi(m[1])
	if err != nil {
		return content{}, err
	}
	c := content{number: n, priced: m[2] == "p"}
	want, err := plain(string(render(feed, id, c, time.Time{}, whole, 0)))
	if err != nil {
		return content{}, err
	}
	got, err := plain(strings.ReplaceAll(payload, base, ""))
	if err != nil {
		return content{}, err
	}
	if !reflect.DeepEqual(got, want) {
		return content{}, fmt.Errorf("the payload is stamped %s, but differs from it: got %v, want %v", stamp(c), got, want)
	}
	return c, nil
}

// plain removes from a record everything without meaning: spelling, the updatedSince link, a link's title.
func plain(record string) (map[string]any, error) {
	var all map[string]any
	if err := json.Unmarshal([]byte(record), &all); err != nil {
		return nil, err
	}
	links, ok := all["_links"].(map[string]any)
	if !ok {
		return nil, fmt.Errorf("no links: %s", record)
	}
	delete(links, api.LinkUpdatedSince)
	if self, ok := links[api.LinkSelf].(map[string]any); ok {
		delete(self, "title")
	}
	return all, nil
}
