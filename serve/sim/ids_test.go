package sim

import (
	"testing"

	"dealflow/serve/sim/calibration"
)

func TestCheckDigits(t *testing.T) {
	for body, want := range map[string]string{
		"US037833100": "US0378331005", "AU0000XVGZA": "AU0000XVGZA3", "GB000263494": "GB0002634946", "XS912345678": "XS9123456782",
	} {
		if got := isinCheck(body); got != want {
			t.Errorf("ISIN of %s: %s, want %s", body, got, want)
		}
	}
	if got := cusip("03783310"); got != "037833100" {
		t.Errorf("CUSIP: %s", got)
	}
	for body, want := range map[string]string{"BBG000BLNQ1": "BBG000BLNQ16", "BBGZZ7KDP4W": "BBGZZ7KDP4W7"} {
		if got := figiCheck(body); got != want {
			t.Errorf("FIGI of %s: %s, want %s", body, got, want)
		}
	}
	if got := "US" + cusip("990000AA"); isinCheck(got) != "US990000AA91" && got != "US990000AA9" {
		t.Errorf("ISIN in the private block: %s", isinCheck(got))
	}
}

func TestSpellingsKeepTheValue(t *testing.T) {
	for text, want := range map[string][4]string{
		"1475000000": {"1475000000.0", "1475000000.00", "1.475E9", "1.475e+9"},
		"1000000000": {"1000000000.0", "1000000000.00", "1.0E9", "1e+9"},
		"99.5":       {"99.50", "99.500", "9.95E1", "9.95e+1"},
		"0.006543":   {"0.0065430", "0.00654300", "0.006543E0", "0.006543e0"},
		"0":          {"0.0", "0.00", "0E0", "0e0"},
		"7":          {"7.0", "7.00", "7.0E0", "7e+0"},
	} {
		for how, spelling := range want {
			if got := respell(text, uint64(how)); got != spelling {
				t.Errorf("respell(%s, %d) = %s, want %s", text, how, got, spelling)
			}
		}
	}
}

func TestVolumeText(t *testing.T) {
	usd := currency{Currency: calibration.Currencies["USD"]}
	for amount, want := range map[int64]string{500e6: "USD500m", 1250e6: "USD1.25bn", 2500e9: "USD2.5trn", 12.5e6: "USD12.5m"} {
		if got := usd.volumeText(amount); got != want {
			t.Errorf("%d: %s, want %s", amount, got, want)
		}
	}
	if got := (currency{nano: 1_084_200_000}).usd(1475000000); got != "1599195000" {
		t.Errorf("EUR1.475bn in dollars: %s", got)
	}
	if got := (currency{nano: 63_000}).usd(7); got != "0.000441" {
		t.Errorf("IDR7 in dollars: %s", got)
	}
}
