package text

import "strings"

// codes are the currencies of ISO 4217 in which money is raised, without those that the euro replaced, and CNH, the
// renminbi outside the mainland.
const codes = `AED AFN ALL AMD ANG AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF CHF CLF
CLP CNH CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HRK HTG HUF IDR ILS
INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK
MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP
STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XDR XOF XPF YER ZAR ZMW ZWG`

// currencies contains the codes as cells contain them, by their letters in lower case.
var currencies = func() map[[3]byte][]byte {
	all := map[[3]byte][]byte{}
	for _, code := range strings.Fields(codes) {
		all[[3]byte([]byte(strings.ToLower(code)))] = []byte(code)
	}
	return all
}()

// currencyOf returns the currency for a code in any case; nil for an unknown code.
func currencyOf(code []byte) []byte {
	if len(code) != 3 {
		return nil
	}
	return currencies[[3]byte{lower(code[0]), lower(code[1]), lower(code[2])}]
}

// smallUnits are the currencies of which fifty or more make a dollar. Sizes in them reach thousands of billions.
var smallUnits = func() map[string]bool {
	all := map[string]bool{}
	for _, code := range strings.Fields(`AFN ALL AMD AOA ARS BDT BIF CDF CLP COP CRC CVE DJF DOP DZD EGP ETB GMD GNF GYD HTG HUF IDR INR IQD IRR ISK JMD JPY
KES KGS KHR KMF KPW KRW KZT LAK LBP LKR LRD MGA MKD MMK MNT MUR MWK MZN NGN NPR PHP PKR PYG RSD RUB RWF SDG SOS SSP SYP TZS UGX UZS VND VUV XAF XOF XPF YER`) {
		all[code] = true
	}
	return all
}()

// currencySigns are the signs and short names of currencies, in lower case. Of two with a common start the longer one
// comes first.
var currencySigns = []struct{ sign, code string }{
	{"€", "EUR"}, {"£", "GBP"}, {"₹", "INR"}, {"₩", "KRW"}, {"₺", "TRY"}, {"₽", "RUB"}, {"₱", "PHP"}, {"₪", "ILS"}, {"฿", "THB"}, {"₫", "VND"}, {"₦", "NGN"},
	{"us$", "USD"}, {"usd$", "USD"}, {"a$", "AUD"}, {"au$", "AUD"}, {"c$", "CAD"}, {"ca$", "CAD"}, {"cad$", "CAD"}, {"aud$", "AUD"}, {"hk$", "HKD"}, {"s$", "SGD"}, {"sg$", "SGD"},
	{"nz$", "NZD"}, {"nt$", "TWD"}, {"r$", "BRL"}, {"mx$", "MXN"}, {"mxn$", "MXN"}, {"cn¥", "CNY"}, {"jp¥", "JPY"},
}

// currencyWords are words for currencies, in lower case, that are not their codes.
var currencyWords = map[string]string{
	"rmb": "CNY", "eu": "EUR", "euro": "EUR", "euros": "EUR", "stg": "GBP", "sfr": "CHF", "skr": "SEK", "nkr": "NOK", "dkr": "DKK", "rm": "MYR", "rp": "IDR", "rs": "INR", "yen": "JPY", "sterling": "GBP", "pounds": "GBP", "renminbi": "CNY", "yuan": "CNY",
}

// sharedSigns are the signs of several currencies. The sign means the one in the currency column if that is one of them.
// Otherwise it means the first; if there is none, it is ambiguous. A dollar next to another dollar than that of the United
// States may be either, too.
var sharedSigns = []struct {
	sign, otherwise string
	column          string // the currencies that use the sign
	certain         bool   // the sign means the column's currency
}{
	{"$", "USD", "AUD CAD HKD SGD NZD TWD BRL MXN CLP COP ARS UYU BBD BSD BMD KYD JMD TTD BND FJD NAD", false},
	{"¥", "", "JPY CNY CNH", true},
	{"y", "", "JPY CNY CNH", true},
}

// currency reads a currency and a space after it: its code, its sign or a word for it. column is the value of the
// currency column, which helps to read a sign of several currencies. found is nil if none is next.
func (s *scanner) currency(column []byte) (found []byte, v verdict) {
	ahead := *s
	v = yes
	for i := range currencySigns {
		if ahead.has(currencySigns[i].sign) {
			found = currencyText[currencySigns[i].code]
			break
		}
	}
	if found == nil {
		found, v = ahead.sharedSign(currencyOf(column))
	}
	if found == nil && v == yes {
		found = ahead.currencyWord(currencyOf(column))
	}
	if found != nil {
		ahead.space()
		*s = ahead
	}
	return found, v
}

// sharedSign reads a sign of several currencies.
func (s *scanner) sharedSign(column []byte) (found []byte, v verdict) {
	for i := range sharedSigns {
		shared := &sharedSigns[i]
		if ahead := *s; !ahead.has(shared.sign) || isLetter(shared.sign[0]) && (ahead.end() || !isDigit(ahead.rest[0])) {
			continue
		}
		s.has(shared.sign)
		uses := column != nil && strings.Contains(shared.column, string(column))
		switch {
		case uses && shared.certain:
			return column, yes
		case uses, shared.otherwise == "":
			return nil, ambiguous
		}
		return currencyText[shared.otherwise], yes
	}
	return nil, yes
}

// currencyWord reads a code or a word; nil if none is next. RMB is the renminbi of the currency column.
func (s *scanner) currencyWord(column []byte) []byte {
	word := s.letters()
	if found := currencyOf(word); found != nil {
		return found
	}
	var buffer [maxWord]byte
	code := currencyWords[string(fold(&buffer, word))]
	if code == "CNY" && string(column) == "CNH" {
		return column
	}
	return currencyText[code]
}

// currencyText contains the codes as cells contain them, by themselves.
var currencyText = func() map[string][]byte {
	all := map[string][]byte{}
	for _, code := range currencies {
		all[string(code)] = code
	}
	return all
}()

// chooseCurrency sets the currency named in the text, or else that of the currency column.
func (r *Reading) chooseCurrency(named []byte, siblings Siblings) {
	r.Currency, r.Implied = named, No
	if named == nil {
		r.Currency, r.Implied = currencyOf(siblings.Currency), Yes
	}
	if r.Currency == nil {
		r.Implied = Unknown
	}
}
