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

// currency reads the code of a currency, € or £, and a space after it. It returns nil if none is next. Other signs
// belong to several currencies.
func (s *scanner) currency() (found []byte) {
	ahead := *s
	switch {
	case ahead.has("€"):
		found = currencyOf([]byte("EUR"))
	case ahead.has("£"):
		found = currencyOf([]byte("GBP"))
	default:
		found = currencyOf(ahead.letters())
	}
	if found != nil {
		ahead.space()
		*s = ahead
	}
	return found
}

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
