package text_test

import (
	"testing"
	"time"

	"dealflow/schemas/lake"
	"dealflow/transform/text"
)

// currency is the value of a currency column.
func currency(code string) text.Siblings { return text.Siblings{Currency: []byte(code)} }

// day is the value of a date column.
func day(date string) text.Siblings {
	at, err := time.Parse(time.DateOnly, date)
	if err != nil {
		panic(err)
	}
	return text.Siblings{Day: at.Unix() / 86_400, Dated: true}
}

// TestDictionary reads every row of the parsing dictionary. Its rows change only with a new version of the parsers.
func TestDictionary(t *testing.T) {
	none := text.Siblings{}
	for _, tt := range []struct {
		row      int
		parser   lake.Parser
		text     string
		siblings text.Siblings
		want     string
	}{
		{1, lake.ParseSpread, "T+95", none, "OK benchmark=UST main=95"},
		{2, lake.ParseSpread, "MS+120bp", none, "OK benchmark=MS main=120"},
		{3, lake.ParseSpread, "MS flat", none, "OK benchmark=MS main=0"},
		{4, lake.ParseSpread, "MS-3", none, "OK benchmark=MS main=-3"},
		{5, lake.ParseSpread, "DBR+132.4", none, "OK benchmark=BUND main=132.4"},
		{6, lake.ParseEvolution, "IPTs MS+130 area", none, "OK stage=IPT benchmark=MS main=130 quality=AREA basis=SPREAD"},
		{7, lake.ParseEvolution, "MS+105-110 WPIR", none, "RANGE benchmark=MS main=105..110 quality=WPIR basis=SPREAD"},
		{8, lake.ParseEvolution, "Revised guidance MS+100 (+/-2) WPIR", none, "OK stage=REVISED benchmark=MS main=98..100..102 quality=WPIR basis=SPREAD"},
		{9, lake.ParseEvolution, "MS-3/-1", none, "RANGE benchmark=MS main=-3..-1 basis=SPREAD"},
		{10, lake.ParseEvolution, "MS-5-7", none, "AMBIGUOUS"},
		{11, lake.ParseEvolution, "low/mid 200s", none, "VERBAL"},
		{11, lake.ParseEvolution, "T+high 100s", none, "VERBAL"},
		{12, lake.ParseEvolution, "7.00-7.25%", none, "OK_YIELD yield=7..7.25 basis=YIELD"},
		{13, lake.ParseMargin, "S+325", currency("USD"), "OK benchmark=SOFR main=325"},
		{13, lake.ParseMargin, "S+325", currency("GBP"), "OK benchmark=SONIA main=325"},
		{13, lake.ParseMargin, "S+325", currency("EUR"), "OK main=325"},
		{14, lake.ParseMargin, "E+400-425", currency("EUR"), "RANGE benchmark=EURIBOR main=400..425"},
		{15, lake.ParseMargin, "S+CSA+350", currency("USD"), "OK benchmark=SOFR csa=yes main=350"},
		{16, lake.ParseMargin, "Undisclosed", none, "NO_NUMBER"},
		{16, lake.ParseMargin, "325bp", none, "OK main=325"},
		{16, lake.ParseSpread, "325bp", none, "UNPARSED"},
		{17, lake.ParseOID, "99-99.5", none, "RANGE main=99..99.5"},
		{17, lake.ParseOID, "par", none, "OK main=100"},
		{17, lake.ParseOID, "0.5% UF", none, "OK fee=0.5"},
		{17, lake.ParseOID, "9.95", none, "UNPARSED"},
		{18, lake.ParseCoupon, "3.375%", none, "OK main=3.375"},
		{18, lake.ParseCoupon, "3.375", none, "OK main=3.375"},
		{19, lake.ParseCoupon, "4 7/8%", none, "OK main=4.875"},
		{20, lake.ParseCoupon, "SOFR+85", none, "OK benchmark=SOFR margin=85"},
		{21, lake.ParseCoupon, "6.5% cash/7.25% PIK", none, "OK main=6.5 pik=7.25"},
		{22, lake.ParseCoupon, "3,375%", none, "UNPARSED"},
		{22, lake.ParseCoupon, "TBC", none, "NO_NUMBER"},
		{23, lake.ParseStructure, "5yr FXD", none, "OK tenor=5 rate_type=FIXED"},
		{23, lake.ParseStructure, "long 5yr", none, "OK tenor=5 tenor_quality=LONG"},
		{24, lake.ParseStructure, "10NC5", none, "OK tenor=10 call=5 form=CALLABLE"},
		{24, lake.ParseStructure, "5.5NC2", none, "OK tenor=5.5 call=2 form=CALLABLE"},
		{24, lake.ParseStructure, "16NC6", none, "OK tenor=16 call=6 form=CALLABLE"},
		{25, lake.ParseStructure, "PNC5.25", none, "OK call=5.25 perpetual=yes form=CALLABLE"},
		{26, lake.ParseStructure, "WNG", none, "OK will_not_grow=yes"},
		{26, lake.ParseStructure, "Feb-31", none, "UNPARSED"},
		{27, lake.ParseVolume, "USD500m (expected)", none, "OK main=500000000 currency=USD quality=EXPECTED"},
		{27, lake.ParseVolume, "EUR500m WNG", none, "OK main=500000000 currency=EUR quality=WNG"},
		{28, lake.ParseVolume, "EUR benchmark", none, "NO_NUMBER currency=EUR quality=BENCHMARK"},
		{28, lake.ParseVolume, "TBD", none, "NO_NUMBER"},
		{28, lake.ParseVolume, "USD 500", none, "UNPARSED"},
		{28, lake.ParseVolume, "500m", none, "UNPARSED"},
		{28, lake.ParseVolume, "500m", currency("EUR"), "OK main=500000000 currency=EUR implied=yes"},
		{29, lake.ParseVolume, "USD300m-500m", none, "RANGE main=300000000..500000000 currency=USD"},
		{29, lake.ParseVolume, "GBP250m+", none, "OK main=250000000.. currency=GBP quality=MIN"},
		{29, lake.ParseVolume, "up to USD400m", none, "OK main=..400000000 currency=USD quality=MAX"},
		{29, lake.ParseVolume, "IDR2.5trn", none, "OK main=2500000000000 currency=IDR"},
		{30, lake.ParseBooks, "in excess of EUR3.2bn (incl. 150m JLM)", none, "OK main=3200000000.. jlm=150000000 currency=EUR quality=MIN includes_jlm=yes"},
		{30, lake.ParseBooks, "EUR2.1bn+", none, "OK main=2100000000.. currency=EUR quality=MIN"},
		{30, lake.ParseBooks, "4x covered", none, "OK cover=4"},
		{31, lake.ParsePricingTime, "00:30+09:00", day("2024-03-05"), "OK instant=2024-03-04T15:30:00Z"},
		{31, lake.ParsePricingTime, "14:35", day("2024-03-05"), "AMBIGUOUS"},
		{31, lake.ParsePricingTime, "24:10+00:00", day("2024-03-05"), "UNPARSED"},
	} {
		r := parse(tt.parser, tt.text, tt.siblings)
		if got := render(&r); got != tt.want {
			t.Errorf("row %d: %s %q:\n got %s\nwant %s", tt.row, tt.parser, tt.text, got, tt.want)
		}
	}
}
