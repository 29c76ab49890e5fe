package sim

import (
	"strconv"
	"strings"
	"time"

	"dealflow/schemas/api"
)

// recordWriter writes the members of a record, with the quirks of real records. The number of its draws does not depend
// on the rates.
type recordWriter struct {
	*dice
	q *Quirks
}

// opt returns an optional member that is present with probability p.
func opt[T any](c recordWriter, p float64, value T) api.Opt[T] {
	there, nothing := c.chance(p), c.Float64()
	switch {
	case there:
		return api.Some(value)
	case nothing < c.q.NullOptional:
		return api.Null[T]()
	}
	return api.Opt[T]{}
}

// text returns an optional text that is present with probability p.
func (c recordWriter) text(p float64, value string) api.Opt[string] {
	empty := c.chance(c.q.EmptyText)
	member := opt(c, p, c.say(value))
	if member.IsZero() && empty {
		return api.Some("")
	}
	return member
}

// plain returns an optional text with a form of its own, such as a code: awkward characters are no part of it.
func (c recordWriter) plain(p float64, value string) api.Opt[string] {
	empty := c.chance(c.q.EmptyText)
	member := opt(c, p, value)
	if member.IsZero() && empty {
		return api.Some("")
	}
	return member
}

// word returns an optional word of a list, such as a sector.
func (c recordWriter) word(p float64, value string) api.Opt[string] {
	return c.plain(p, c.spell(value))
}

// spell returns a word of a list, such as a role or a stage, rarely in another case or with odd spaces.
func (c recordWriter) spell(word string) string {
	loose, how := c.chance(c.q.LooseSpelling), c.Uint64()
	if !loose || word == "" {
		return word
	}
	return respelled[how%uint64(len(respelled))](word)
}

var respelled = []func(string) string{
	strings.ToLower,
	strings.ToUpper,
	func(t string) string { return t + " " },
	func(t string) string { return "\u00a0" + t },
	func(t string) string { return strings.Replace(t, " ", "  ", 1) },
}

// object returns an optional object whose members are all optional. Sometimes it is present and empty.
func object[T any](c recordWriter, p float64, value T) api.Opt[T] {
	if c.chance(c.q.EmptyObject) {
		var empty T
		value = empty
	}
	return opt(c, p, value)
}

// say returns a text, rarely a corrupted one.
func (c recordWriter) say(text string) string {
	corrupt, how := c.chance(c.q.AwkwardText), c.Uint64()
	if !corrupt || text == "" {
		return text
	}
	return spoils[how%uint64(len(spoils))](text)
}

var spoils = []func(string) string{
	func(t string) string { return t + " " },
	func(t string) string { return "\u00a0" + t },
	func(t string) string { return t + "\t" },
	func(t string) string { return strings.Replace(t, " ", "\u00a0", 1) },
	func(t string) string { return strings.Replace(t, " ", "\r\n", 1) },
	func(t string) string { return t + "\u0007" },
	func(t string) string { return t + "\u0000" },
	func(t string) string { return t + " \U0001F4C8" },
	func(t string) string { return strings.ReplaceAll(t, "e", "e\u0301") },
	func(t string) string { return strings.ReplaceAll(t, " ", " &amp; ") },
	func(t string) string { return "<b>" + t + "</b>" },
	func(t string) string { return t + "\u2028" },
	func(t string) string { return t + " \\ \"/\" \u007f" },
	func(t string) string { return t + " – 東京 €£ ’" },
}

// number returns a number in one of its spellings.
func (c recordWriter) number(text string) api.Number {
	corrupt, how := c.chance(c.q.NumberSpelling), c.Uint64()
	if corrupt {
		return api.Number(respell(text, how))
	}
	return api.Number(text)
}

// respell returns another spelling of the same value.
func respell(text string, how uint64) string {
	dot := strings.IndexByte(text, '.')
	switch how % 4 {
	case 0:
		if dot < 0 {
			return text + ".0"
		}
		return text + "0"
	case 1:
		if dot < 0 {
			return text + ".00"
		}
		return text + "00"
	case 2:
		return scientific(text, "E")
	}
	return scientific(text, "e+")
}

// scientific returns the exponent form with the point after the first digit; numbers below one keep their point.
func scientific(text, exponent string) string {
	sign, digits := "", text
	if rest, negative := strings.CutPrefix(text, "-"); negative {
		sign, digits = "-", rest
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	if whole == "0" {
		return text + strings.TrimSuffix(exponent, "+") + "0"
	}
	tail := strings.TrimRight(whole[1:]+fraction, "0")
	if tail == "" && exponent == "E" {
		tail = "0"
	}
	if tail != "" {
		tail = "." + tail
	}
	return sign + whole[:1] + tail + exponent + strconv.Itoa(len(whole)-1)
}

// converted returns an amount's value in dollars, rarely 0 as the placeholder of an unknown value.
func (c recordWriter) converted(amount int64, cur currency) api.Converted {
	usd := c.number(cur.usd(amount))
	if c.chance(c.q.ZeroUSD) {
		usd = "0"
	}
	return api.Converted{USD: usd}
}

// money returns an amount with its value in dollars.
func (c recordWriter) money(amount int64, cur currency) api.MonetaryValue {
	return api.MonetaryValue{Amount: c.number(strconv.FormatInt(amount, 10)), Converted: c.converted(amount, cur)}
}

// link returns a link of a record, rarely with the other members of a link object.
func (c recordWriter) link(href string) api.RecordLink {
	link := api.RecordLink{Href: href}
	extras, how := c.chance(c.q.LinkExtras), c.Uint64()
	if !extras {
		return link
	}
	d := stream(how)
	if d.chance(0.3) {
		link.Hreflang = api.Some("en")
	}
	if d.chance(0.4) {
		link.Title = orNull(c, pick(d, api.Some("Deal"), api.Null[string]()))
	}
	if d.chance(0.5) {
		link.Type = api.Some("application/hal+json")
	}
	if d.chance(0.2) {
		link.Deprecation = api.Some("https://docs.example.test/deprecations/3")
	}
	if d.chance(0.2) {
		link.Profile = api.Some("https://docs.example.test/profiles/deal")
	}
	if d.chance(0.3) {
		link.Name = api.Some("deal")
	}
	if d.chance(0.5) {
		link.Templated = orNull(c, pick(d, api.Some(false), api.Some(false), api.Null[bool]()))
	}
	return link
}

// orNull returns a member; absent where it is null and the market shows no null.
func orNull[T any](c recordWriter, member api.Opt[T]) api.Opt[T] {
	if _, there := member.Get(); !there && c.q.NullOptional == 0 {
		return api.Opt[T]{}
	}
	return member
}

// links returns a record's links, which are very rarely absent.
func (c recordWriter) links(links api.RecordLinks) api.Opt[api.RecordLinks] {
	missing, empty := c.chance(c.q.NoLinks), c.chance(0.5)
	if !missing {
		return api.Some(links)
	}
	if empty {
		return api.Some(api.RecordLinks{})
	}
	return api.Opt[api.RecordLinks]{}
}

// instant returns a date and time as the API writes it.
func instant(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// date returns a date as the API writes it.
func date(t time.Time) string { return t.UTC().Format(time.DateOnly) }
