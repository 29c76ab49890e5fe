package dirstore

import "testing"

func TestCheckPath(t *testing.T) {
	for path, good := range map[string]bool{
		"": true, "/data/lake": true, "lake of today": true, "it's": true, "/data/100%#*é": true, "s3://bucket/a": true,
		`"/data/lake"`: false, "'s3://bucket/a'": false, " lake": false, "lake ": false, "a?b": false, "a\nb": false, "a\xff": false,
	} {
		if err := CheckPath(path); (err == nil) != good {
			t.Errorf("%q: got %v, want an error: %t", path, err, !good)
		}
	}
}
