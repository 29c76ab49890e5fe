package text

// ratingScale is an agency's scale of long-term ratings: the letters, and the marks by which some of them have three notches.
// The places, from 1 to 22, are those of the tables in which the agencies, supervisors and index providers compare the
// scales. The last place is default.
type ratingScale struct {
	grades []grade
	marks  string // the mark of the better, the middle and the worse notch; a space for none
}

// grade is one group of letters of a scale.
type grade struct {
	letters string // in lower case
	notch   int64  // of the best notch of the group
	names   [3]string
}

// moodysScale is the scale of Moody's: 1, 2 and 3 after the letters, except at both ends.
var moodysScale = ratingScale{marks: "123", grades: []grade{
	{"aaa", 1, [3]string{"Aaa"}},
	{"aa", 2, [3]string{"Aa1", "Aa2", "Aa3"}},
	{"a", 5, [3]string{"A1", "A2", "A3"}},
	{"baa", 8, [3]string{"Baa1", "Baa2", "Baa3"}},
	{"ba", 11, [3]string{"Ba1", "Ba2", "Ba3"}},
	{"b", 14, [3]string{"B1", "B2", "B3"}},
	{"caa", 17, [3]string{"Caa1", "Caa2", "Caa3"}},
	{"ca", 20, [3]string{"Ca"}},
	{"c", 21, [3]string{"C"}},
	{"d", 22, [3]string{"D"}}, // no grade of the agency's own: others write it for a default
}}

// standardAndPoorsScale is the scale of Standard & Poor's: + and - after the letters, except at both ends.
var standardAndPoorsScale = ratingScale{marks: "+ -", grades: append(letterGrades(),
	grade{"sd", 22, [3]string{"SD"}}, grade{"d", 22, [3]string{"D"}})}

// fitchScale is the scale of Fitch: that of Standard & Poor's with its own grades for a default.
var fitchScale = ratingScale{marks: "+ -", grades: append(letterGrades(),
	grade{"rd", 22, [3]string{"RD"}}, grade{"ddd", 22, [3]string{"DDD"}}, grade{"dd", 22, [3]string{"DD"}}, grade{"d", 22, [3]string{"D"}})}

// letterGrades are the grades that Standard & Poor's and Fitch have in common.
func letterGrades() []grade {
	return []grade{
		{"aaa", 1, [3]string{"AAA"}},
		{"aa", 2, [3]string{"AA+", "AA", "AA-"}},
		{"a", 5, [3]string{"A+", "A", "A-"}},
		{"bbb", 8, [3]string{"BBB+", "BBB", "BBB-"}},
		{"bb", 11, [3]string{"BB+", "BB", "BB-"}},
		{"b", 14, [3]string{"B+", "B", "B-"}},
		{"ccc", 17, [3]string{"CCC+", "CCC", "CCC-"}},
		{"cc", 20, [3]string{"CC"}},
		{"c", 21, [3]string{"C"}},
	}
}

// The last notches of investment grade and of the scales.
const (
	lastInvestment = 10
	lastNotch      = 22
)

// gradeNames are the notches in the scale of Standard & Poor's, as cells contain them: notch 1 first.
var gradeNames = func() (names [lastNotch][]byte) {
	for _, g := range standardAndPoorsScale.grades {
		for i, name := range g.names {
			if name != "" {
				names[g.notch-1+int64(i)] = []byte(name)
			}
		}
	}
	return names
}()

// gradeOf returns a notch in the scale of Standard & Poor's; nil outside 1 to 22.
func gradeOf(notch Integer) []byte {
	if !notch.Set || notch.Value < 1 || notch.Value > lastNotch {
		return nil
	}
	return gradeNames[notch.Value-1]
}

// outlooks are the words for the direction of an outlook or a review.
var outlooks = []struct {
	words     []string
	direction []byte
}{
	{[]string{"positive", "pos.", "pos", "po"}, []byte("POSITIVE")},
	{[]string{"stable", "stab", "stbl", "sta.", "sta"}, []byte("STABLE")},
	{[]string{"negative", "neg.", "neg"}, []byte("NEGATIVE")},
	{[]string{"developing", "dev.", "dev", "evolving", "evo"}, []byte("DEVELOPING")},
}

// watches are the words for a rating under review. Those without a direction may have one after them.
var watches = []struct {
	words     []string
	direction []byte
}{
	{[]string{"negative watch", "neg watch", "rwn", "cwn", "rfd", "rur-d", "rur d", "rur-", "cw-", "review for downgrade", "review for possible downgrade", "under review for downgrade", "on review for downgrade", "possible downgrade"}, []byte("NEGATIVE")},
	{[]string{"positive watch", "pos watch", "rwp", "cwp", "rfu", "rur-u", "rur u", "rur+", "cw+", "review for upgrade", "review for possible upgrade", "under review for upgrade", "on review for upgrade", "possible upgrade"}, []byte("POSITIVE")},
	{[]string{"rwe", "cwd"}, []byte("DEVELOPING")},
	{[]string{"creditwatch", "credit watch", "rating watch", "on watch", "watch", "cw", "rw", "under review", "on review", "review", "rur", "ur"}, watchUnknown},
}

var watchUnknown = []byte("UNKNOWN")

// shortTerm are grades of short-term debt and of recovery, which agencies publish next to the rating: AA-/Stable/A-1+, A2/P-1, B-/RR4.
var shortTerm = []string{"a-1+", "a-1", "a-2", "a-3", "p-1", "p-2", "p-3", "f1+", "f1", "f2", "f3", "rr1", "rr2", "rr3", "rr4", "rr5", "rr6"}

// ratingMarks are marks after a rating that do not change it: expected, unsolicited, structured finance, hybrid.
var ratingMarks = []string{"expected", "exp.", "exp", "e", "u", "unsolicited", "unsol", "sf", "hyb", "cr", "dcr", "pi", "preliminary", "prelim", "provisional", "prov.", "prov"}
