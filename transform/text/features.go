package text

// features are the words of a structure, and the part of a Reading that each sets. Of two with a common start the longer
// one comes first. Ranks and labels are those of the API document and of the market's own glossaries; tier 2 and AT1 are
// ranks here, because desks write them in the place of one.
var features = []struct {
	words []string
	value []byte
	place func(*Reading) *[]byte
}{
	{[]string{"fixed-to-floating", "fixed to floating", "fixed-to-float", "fixed-to-reset", "fixed to reset", "fixed-rate reset", "fxd-flt", "fxd/flt", "fxd-to-flt", "fxd-frn", "fxd-to-frn", "fix-to-float", "fix/float"}, rateReset, rateType},
	{[]string{"fxd", "fixed rate", "fixed-rate", "fixed", "fix"}, rateFixed, rateType},
	{[]string{"frns", "frn", "floating rate", "floating-rate", "floating", "floater", "flt"}, rateFloating, rateType},
	{[]string{"zero coupon", "zero-coupon", "zero", "zc"}, rateZero, rateType},
	{[]string{"amortising", "amortizing", "amortiser", "amortizer", "amort.", "amort"}, formAmortising, form},
	{[]string{"sinker", "sinking fund"}, formSinker, form},
	{[]string{"callable"}, formCallable, form},
	{[]string{"long"}, lengthLong, length},
	{[]string{"short"}, lengthShort, length},

	{[]string{"covered bonds", "covered bond", "covered", "cov. bonds", "cov. bond", "cov bond", "cvd bond", "cvd", "cov.", "hypo-pfandbrief", "hypothekenpfandbrief", "hypopfandbrief", "mortgage pfandbriefe", "öffentlicher pfandbrief", "oepfandbrief", "jumbo pfandbrief", "cedulas", "cédulas", "foncières", "foncieres", "pfandbriefe", "pfandbrief", "mortgage pfandbrief", "public sector covered bond", "public sector covered", "public covered", "public sector pfandbrief", "public pfandbrief", "mortgage covered bond", "mortgage covered", "ocpf", "obg", "cb"}, []byte("COVERED"), rank},
	{[]string{"1st lien", "first lien", "1l"}, []byte("FIRST_LIEN"), rank},
	{[]string{"2nd lien", "second lien", "2l"}, []byte("SECOND_LIEN"), rank},
	{[]string{"senior non-preferred", "senior non preferred", "snr non-preferred", "snr non-pref", "sr non-pref", "senior non-pref", "non-preferred", "non-pref", "snp"}, []byte("SENIOR_NON_PREFERRED"), rank},
	{[]string{"senior preferred", "snr preferred", "snr pref", "sr pref", "senior pref", "preferred senior", "sp"}, []byte("SENIOR_PREFERRED"), rank},
	{[]string{"senior secured", "sen. secured", "sen. sec.", "sen. sec", "sr. secured", "sr. sec.", "sr. sec", "snr. sec", "snr secured", "snr sec", "sr secured", "sr sec", "sssn", "ssns", "ssn", "secured"}, rankSeniorSecured, rank},
	{[]string{"senior unsecured", "senior unsec.", "senior unsec", "snr. unsec.", "snr. unsec", "sr. unsec.", "sr. unsecured", "sr. unsec", "sr unsec.", "snr unsec.", "snr unsecured", "snr unsec", "sr unsecured", "sr unsec", "suns", "sun", "unsecured"}, []byte("SENIOR_UNSECURED"), rank},
	{[]string{"senior subordinated", "senior sub", "snr sub", "sr sub"}, []byte("SENIOR_SUBORDINATED"), rank},
	{[]string{"senior holdco", "senior opco", "senior", "snr", "sr", "hold-co senior", "holdco senior", "opco senior"}, []byte("SENIOR"), rank},
	{[]string{"lower tier 2", "lt2", "tier2", "tier 2", "tier-2", "tier ii", "tier two", "t2"}, []byte("T2"), rank},
	{[]string{"restricted tier 1", "rt1"}, []byte("RT1"), rank},
	{[]string{"additional tier 1", "at-1", "at1"}, []byte("AT1"), rank},
	{[]string{"tier 1", "t1"}, []byte("T1"), rank},
	{[]string{"junior subordinated", "junior sub", "jnr subordinated", "jnr sub", "jr sub"}, []byte("JUNIOR_SUBORDINATED"), rank},
	{[]string{"corporate hybrid", "hybrid"}, []byte("HYBRID"), rank},
	{[]string{"subordinated", "sub"}, []byte("SUBORDINATED"), rank},

	{[]string{"green", "grüner", "grüne", "gruener", "gruene"}, []byte("GREEN"), label},
	{[]string{"social", "soc"}, []byte("SOCIAL"), label},
	{[]string{"sustainability-linked", "sustainability linked", "slb"}, []byte("SUSTAINABILITY_LINKED"), label},
	{[]string{"sustainability", "sustainable", "sust.", "sust", "sustain."}, []byte("SUSTAINABILITY"), label},
	{[]string{"blue"}, []byte("BLUE"), label},
	{[]string{"transition"}, []byte("TRANSITION"), label},
}

// rankWords are the words of all ranks, except sub, which may be a limit.
var rankWords = func() (all []string) {
	var r Reading
	for _, f := range features {
		if f.place(&r) == &r.Rank {
			for _, word := range f.words {
				if word != "sub" {
					all = append(all, word)
				}
			}
		}
	}
	return all
}()

// plainFeatures are words of a structure that say nothing which a column has.
var plainFeatures = []string{"3(a)(2)", "3(a)2", "3a2", "act/360", "act/365", "act/act", "30/360", "formosa", "kangaroo", "samurai", "maple", "panda", "dim sum", "yankee", "soft bullet", "hard bullet", "notes", "note", "bonds", "bond", "sukuk", "debut", "benchmark", "bmk", "reg s only", "144a for life", "144a/regs for life", "144a/reg s for life", "144a/regs", "144a/reg s", "reg s/144a", "regs/144a", "144a", "reg s", "regs", "sec-registered", "sec registered", "long first coupon", "short first coupon", "long first", "short first", "long 1st", "short 1st", "holdco", "opco", "maturity", "area", "solvency ii", "solvency 2", "sol ii", "sii", "mrel-eligible", "mrel eligible", "tlac", "bail-in", "basel iii", "crd iv", "crr", "fixed-price", "euro", "domestic", "eurobond", "ssa", "tlb", "tla", "term loan b", "term loan a", "term loan", "rcf", "revolver"}

func rateType(r *Reading) *[]byte { return &r.RateType }

func form(r *Reading) *[]byte { return &r.Form }

func length(r *Reading) *[]byte { return &r.Length }

func rank(r *Reading) *[]byte { return &r.Rank }

func label(r *Reading) *[]byte { return &r.Label }
