package ui_test

import (
	"testing"
	"time"

	"dealflow/internal/maintain"
	"dealflow/internal/testkit/world"
)

// upkeep is what can be done to a lake, by name. None of it changes what was known at an earlier instant.
var upkeep = map[string]func(*testing.T, *world.World){
	"pull again": func(t *testing.T, w *world.World) {
		w.Later(time.Hour)
		w.MustRun(t)
	},
	"compact": func(t *testing.T, w *world.World) { w.MustCompact(t) },
	"replay":  func(t *testing.T, w *world.World) { w.MustReplay(t, "snapshots", "force") },
	"expire":  func(t *testing.T, w *world.World) { w.MustExpire(t, maintain.Retention{Days: 1}, true) },
}
