package transform_test

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"dealflow/schemas/api"
	"dealflow/schemas/lake"
	"dealflow/transform"
)

// canonicalVectors is testdata/canonical/vectors.json. It was computed by another program, and it is
// never rewritten: a form that differs from it needs a new lake.HashVersion.
type canonicalVectors struct {
	HashVersion int `json:"hash_version"`
	Base        string
	Vectors     []struct{ Name, Base, Input, Canonical, SHA256 string }
	Equal       []recordSet
	Differ      []recordSet
}

type recordSet struct {
	Name    string
	Records []string
}

func readVectors(t testing.TB) *canonicalVectors {
	t.Helper()
	data, err := os.ReadFile("../testdata/canonical/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var v canonicalVectors
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if v.HashVersion != lake.HashVersion || len(v.Vectors) < 30 {
		t.Fatalf("got hash version %d and %d vectors, want %d and at least 30", v.HashVersion, len(v.Vectors), lake.HashVersion)
	}
	return &v
}

func TestCanonicalVectors(t *testing.T) {
	v := readVectors(t)
	for _, vector := range v.Vectors {
		c := transform.NewCanonicalizer(mustBase(t, cmp.Or(vector.Base, v.Base)))
		form, err := c.Form([]byte(vector.Input))
		if err != nil || string(form) != vector.Canonical {
			t.Errorf("%s:\n got %s %v\nwant %s", vector.Name, form, err, vector.Canonical)
		}
		hash, err := c.Hash([]byte(vector.Input))
		if got := hex.EncodeToString(hash[:]); err != nil || got != vector.SHA256 {
			t.Errorf("%s: got hash %s %v, want %s", vector.Name, got, err, vector.SHA256)
		}
	}
}

func TestCanonicalEquality(t *testing.T) {
	v := readVectors(t)
	c := transform.NewCanonicalizer(mustBase(t, v.Base))
	for _, set := range v.Equal {
		for _, record := range set.Records[1:] {
			if contentHash(t, c, record) != contentHash(t, c, set.Records[0]) {
				t.Errorf("%s: %s and %s differ, want equal", set.Name, record, set.Records[0])
			}
		}
	}
	for _, set := range v.Differ {
		seen := map[lake.Digest]string{}
		for _, record := range set.Records {
			hash := contentHash(t, c, record)
			if other, found := seen[hash]; found {
				t.Errorf("%s: %s and %s are equal, want different", set.Name, record, other)
			}
			seen[hash] = record
		}
	}
}

func contentHash(t testing.TB, c *transform.Canonicalizer, record string) lake.Digest {
	t.Helper()
	hash, err := c.Hash([]byte(record))
	if err != nil {
		t.Fatalf("%s: %v", record, err)
	}
	return hash
}

// TestCanonicalRejects checks that the canonical form refuses the same payloads as Read.
func TestCanonicalRejects(t *testing.T) {
	for record, want := range map[string]api.RejectReason{
		``: api.RejectInvalidJSON, `[]`: api.RejectNotObject, `null`: api.RejectNotObject, `"x"`: api.RejectNotObject,
		`{"a":1}{}`: api.RejectInvalidJSON, `{"a":01}`: api.RejectInvalidJSON, `{"a":1,"a":1}`: api.RejectDuplicateMember,
		`{"_links":{"self":{"href":"/a","title":{"x":1,"x":2}}}}`: api.RejectDuplicateMember,
		`{"_links":{"updatedSince":{"a":1,"\u0061":1}}}`:          api.RejectDuplicateMember,
		"{\"a\":\"\xff\"}": api.RejectInvalidUTF8,
		// The first fault counts, whatever follows it.
		`{"a":1,"a":1,x}`: api.RejectDuplicateMember, `{"a":1,x,"a":1}`: api.RejectInvalidJSON, `{"a":{"b":1,"b":2},"a":`: api.RejectDuplicateMember,
		`{"a":1,"b":2,"a":1`: api.RejectDuplicateMember, `{"_links":{"self":{"title":1,"title":2}}}`: api.RejectDuplicateMember,
		`{"_links":{"updatedSince":1,"updatedSince":2}}`:              api.RejectDuplicateMember,
		strings.Repeat(`{"a":`, 10_001) + strings.Repeat(`}`, 10_001): api.RejectInvalidJSON,
	} {
		_, err := transform.NewCanonicalizer(api.Base{}).Hash([]byte(record))
		var reject *api.Reject
		if !errors.As(err, &reject) || reject.Reason != want {
			t.Errorf("%.40q: got %v, want reject %s", record, err, want)
		}
		if _, err := transform.NewFlattener(api.Feeds()[0], api.Base{}).Read([]byte(record)); !errors.As(err, &reject) || reject.Reason != want {
			t.Errorf("%.40q: Read: got %v, want reject %s", record, err, want)
		}
	}
}

// TestMemberOrder writes objects with many members whose names have common prefixes, and finds a name that occurs
// twice.
func TestMemberOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	c := transform.NewCanonicalizer(api.Base{})
	for _, size := range []int{2, 3, 12, 13, 100, 255, 256, 257, 1000} {
		names := map[string]bool{"": true, "\x00": true}
		for len(names) < size {
			name := []string{"", "x", "common", "commons", "common prefix", "common prefix of all", "été"}[random.IntN(7)]
			for range random.IntN(4) {
				name += string(rune([]int{0, 1, '"', '\\', 'a', 'b', 0x7f, 0xff, 0xffff, 0x10000}[random.IntN(10)]))
			}
			names[name] = true
		}
		var members, want []string
		for _, name := range slices.Sorted(maps.Keys(names)) {
			want = append(want, name)
			members = append(members, respellText(quoted(name), random)+":0")
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		form, err := c.Form([]byte("{" + strings.Join(members, ",") + "}"))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, m := range parseValue(t, form).members {
			got = append(got, m.name)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d members: got %q, want %q", size, got, want)
		}
		members = append(members, members[random.IntN(size)])
		var reject *api.Reject
		if _, err := c.Form([]byte("{" + strings.Join(members, ",") + "}")); !errors.As(err, &reject) || reject.Reason != api.RejectDuplicateMember {
			t.Errorf("%d members: got %v, want reject %s", size, err, api.RejectDuplicateMember)
		}
	}
}

// TestRespelling writes every sample record in another spelling: the content hash and the rows of all tables do not
// change.
func TestRespelling(t *testing.T) {
	const otherBase = "https://mirror.example.test:8443/deals"
	for _, feed := range api.Feeds() {
		t.Run(feed.String(), func(t *testing.T) {
			t.Parallel()
			random := rand.New(rand.NewPCG(1, 2))
			payloads := samplePage(t, feed)
			respelled := make([]json.RawMessage, len(payloads))
			here, there := transform.NewCanonicalizer(mustBase(t, samplesBase)), transform.NewCanonicalizer(mustBase(t, otherBase))
			for i, payload := range payloads {
				respelled[i] = respell(parseValue(t, payload), random, otherBase)
				want, got := contentHash(t, here, string(payload)), contentHash(t, there, string(respelled[i]))
				if got != want {
					t.Errorf("record %d: got hash %x, want %x\n%s\n%s", i, got, want, payload, respelled[i])
				}
			}
			want, got := flattenAll(t, feed, samplesBase, payloads), flattenAll(t, feed, otherBase, respelled)
			for table := range want {
				if !slices.Equal(got[table], want[table]) {
					t.Errorf("%s: rows differ\n got %s\nwant %s", table, got[table], want[table])
				}
			}
		})
	}
}

// notContent matches the pointers of all members of links except href, and of the link updatedSince.
var notContent = regexp.MustCompile(`/_links/(updatedSince|[^/]+/(hreflang|title|type|deprecation|profile|name|templated))`)

// TestEveryLeafCounts changes each leaf of a record, one at a time. The content hash changes if and only if the leaf is
// content.
func TestEveryLeafCounts(t *testing.T) {
	for _, feed := range api.Feeds() {
		c := transform.NewCanonicalizer(mustBase(t, samplesBase))
		for _, payload := range samplePage(t, feed)[:2] {
			record := parseValue(t, payload)
			seen := map[lake.Digest]string{contentHash(t, c, record.text()): "the record itself"}
			record.eachLeaf("", func(pointer string, leaf *value) {
				if notContent.MatchString(pointer) {
					return
				}
				for _, other := range []string{`null`, `"changed"`, `-12345.678e9`, `{}`, `[]`} {
					was := *leaf
					*leaf = value{scalar: other}
					hash := contentHash(t, c, record.text())
					*leaf = was
					if other == was.scalar {
						continue
					}
					if found, ok := seen[hash]; ok {
						t.Fatalf("%s: %s: %s = %s has the hash of %s", feed, payload, pointer, other, found)
					}
					seen[hash] = pointer + " = " + other
				}
			})
		}
	}
}

// value is a JSON value that keeps its spelling and the order of members.
type value struct {
	scalar  string // text of any value except objects and lists with entries, as written
	members []namedValue
	entries []*value
}

type namedValue struct {
	name  string
	value *value
}

func parseValue(t testing.TB, text []byte) *value {
	t.Helper()
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	v, err := nextValue(dec)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func nextValue(dec *json.Decoder) (*value, error) {
	token, err := dec.Token()
	if err != nil {
		return nil, err
	}
	v := &value{}
	switch token {
	case json.Delim('{'):
		for dec.More() {
			name, err := dec.Token()
			if err != nil {
				return nil, err
			}
			member, err := nextValue(dec)
			if err != nil {
				return nil, err
			}
			v.members = append(v.members, namedValue{name.(string), member})
		}
		_, err = dec.Token()
		v.scalar = "{}"
	case json.Delim('['):
		for dec.More() {
			entry, err := nextValue(dec)
			if err != nil {
				return nil, err
			}
			v.entries = append(v.entries, entry)
		}
		_, err = dec.Token()
		v.scalar = "[]"
	default:
		v.scalar = quoted(token)
	}
	return v, err
}

func quoted(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// text writes the value without white space.
func (v *value) text() string {
	var parts []string
	switch {
	case v.members != nil:
		for _, m := range v.members {
			parts = append(parts, quoted(m.name)+":"+m.value.text())
		}
		return "{" + strings.Join(parts, ",") + "}"
	case v.entries != nil:
		for _, e := range v.entries {
			parts = append(parts, e.text())
		}
		return "[" + strings.Join(parts, ",") + "]"
	}
	return v.scalar
}

// eachLeaf visits the values that contain no other value.
func (v *value) eachLeaf(pointer string, visit func(string, *value)) {
	for _, m := range v.members {
		m.value.eachLeaf(pointer+"/"+m.name, visit)
	}
	for i, e := range v.entries {
		e.eachLeaf(fmt.Sprintf("%s/%d", pointer, i), visit)
	}
	if v.members == nil && v.entries == nil {
		visit(pointer, v)
	}
}

// respell writes a record of the samples in other words: members shuffled, white space, numbers and
// texts spelled otherwise, links under another base, another updatedSince, more fields in links.
func respell(v *value, random *rand.Rand, base string) []byte {
	space := func() string { return []string{"", " ", "\n", "\t", "\r\n  "}[random.IntN(5)] }
	var write func(v *value, inLinks bool) string
	write = func(v *value, inLinks bool) string {
		var parts []string
		switch {
		case v.members != nil:
			for _, m := range v.members {
				text := write(m.value, m.name == "_links")
				if inLinks {
					text = respellLink(m, base, random)
				}
				parts = append(parts, space()+respellText(quoted(m.name), random)+space()+":"+space()+text)
			}
			random.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
			return "{" + strings.Join(parts, ",") + space() + "}"
		case v.entries != nil:
			for _, e := range v.entries {
				parts = append(parts, space()+write(e, false)+space())
			}
			return "[" + strings.Join(parts, ",") + "]"
		case v.scalar[0] == '"':
			return respellText(v.scalar, random)
		case v.scalar[0] == '-' || v.scalar[0] >= '0' && v.scalar[0] <= '9':
			return respellNumber(v.scalar, random)
		}
		return v.scalar
	}
	return []byte(space() + write(v, false) + space())
}

func respellLink(link namedValue, base string, random *rand.Rand) string {
	if link.value.members == nil {
		return link.value.scalar // null
	}
	if link.name == api.LinkUpdatedSince {
		return `{"href":"https://elsewhere.test/?updatedSince=1999-01-01T00:00:00Z","new":[1,{"a":null}]}`
	}
	var href string
	for _, m := range link.value.members {
		if m.name == "href" {
			if err := json.Unmarshal([]byte(m.value.scalar), &href); err != nil {
				panic(err)
			}
		}
	}
	href = strings.Replace(href, samplesBase, base, 1)
	return `{"title":"other","href":` + respellText(quoted(href), random) + `,"templated":false}`
}

// respellText escapes some characters that need no escape.
func respellText(text string, random *rand.Rand) string {
	var s string
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		panic(err)
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '/' && random.IntN(2) == 0:
			b.WriteString(`\/`)
		case r < 0x20 || r == '"' || r == '\\' || r < 0x10000 && random.IntN(8) == 0:
			fmt.Fprintf(&b, `\u%04X`, r)
		case r >= 0x10000 && random.IntN(2) == 0:
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+(r-0x10000)>>10, 0xdc00+(r-0x10000)&0x3ff)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// respellNumber writes the number with its point moved, by its exponent.
func respellNumber(text string, random *rand.Rand) string {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(text), "e")
	power := 0
	if exponent != "" {
		if _, err := fmt.Sscanf(strings.TrimPrefix(exponent, "+"), "%d", &power); err != nil {
			panic(err)
		}
	}
	switch random.IntN(4) {
	case 0:
		return text
	case 1: // 12.5 is 12.500e0
		if !strings.Contains(mantissa, ".") {
			mantissa += "."
		}
		return fmt.Sprintf("%s00E%+d", mantissa, power)
	case 2: // 12.5 is 125e-1
		whole, fraction, _ := strings.Cut(mantissa, ".")
		sign := ""
		if strings.HasPrefix(whole, "-") {
			sign, whole = "-", whole[1:]
		}
		digits := strings.TrimLeft(whole+fraction, "0")
		return fmt.Sprintf("%s%se%d", sign, cmp.Or(digits, "0"), power-len(fraction))
	default: // 12.5 is 0.125e2
		whole, fraction, _ := strings.Cut(mantissa, ".")
		sign := ""
		if strings.HasPrefix(whole, "-") {
			sign, whole = "-", whole[1:]
		}
		return fmt.Sprintf("%s0.%s%se%d", sign, whole, fraction, power+len(whole))
	}
}
