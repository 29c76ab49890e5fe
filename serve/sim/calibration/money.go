package calibration

import "dealflow/schemas/api"

// Currency is a currency and its value, which never changes.
type Currency struct {
	Code  string  // ISO 4217
	Micro int64   // value of one unit, millionths of a US dollar
	Scale float64 // factor on sizes: units that buy what one dollar buys elsewhere
}

// Currencies are the currencies of all markets by code.
var Currencies = map[string]Currency{
	"USD": {"USD", 1_000_000, 1}, "EUR": {"EUR", 1_084_200, 1}, "GBP": {"GBP", 1_267_500, 1},
	"AUD": {"AUD", 652_300, 1}, "CHF": {"CHF", 1_131_000, 0.4}, "CAD": {"CAD", 731_800, 1},
	"SEK": {"SEK", 96_300, 5}, "NOK": {"NOK", 94_150, 5}, "JPY": {"JPY", 6_543, 100},
	"CNH": {"CNH", 138_400, 4}, "HKD": {"HKD", 127_990, 4}, "SGD": {"SGD", 742_600, 0.6},
	"BRL": {"BRL", 198_700, 2}, "ZAR": {"ZAR", 53_210, 8}, "IDR": {"IDR", 63, 8000}, "KES": {"KES", 7_730, 30},
}

// CurrencyMix are the currencies of the deals of each market.
var CurrencyMix = map[api.Market][]Weighted[string]{
	api.IG: {{52, "USD"}, {33, "EUR"}, {6, "GBP"}, {3, "AUD"}, {2.5, "CHF"}, {1, "CAD"}, {0.6, "SEK"}, {0.6, "NOK"}, {0.8, "JPY"}, {0.5, "HKD"}},
	api.HY: {{70, "USD"}, {24, "EUR"}, {5, "GBP"}, {0.5, "SEK"}, {0.5, "NOK"}},
	api.EM: {{80, "USD"}, {9, "EUR"}, {5, "CNH"}, {1.5, "HKD"}, {1.2, "SGD"}, {0.8, "JPY"}, {1, "IDR"}, {0.8, "BRL"}, {0.7, "ZAR"}},
	api.LL: {{62, "USD"}, {31, "EUR"}, {6, "GBP"}, {1, "SEK"}},
	api.CF: {{45, "USD"}, {30, "EUR"}, {9, "GBP"}, {4, "AUD"}, {4, "CNH"}, {3, "HKD"}, {3, "JPY"}, {1, "KES"}, {1, "SGD"}},
	api.AF: {{70, "USD"}, {15, "EUR"}, {5, "AUD"}, {4, "GBP"}, {2, "NOK"}, {2, "JPY"}, {2, "BRL"}},
}

// UsualSizes are the sizes of many deals, in millions of dollars (times Currency.Scale).
var UsualSizes = []float64{300, 500, 750, 1000, 1250, 1500, 2000}
