package export_test

import (
	"testing"

	"dealflow/internal/testkit/world"
)

func TestMain(m *testing.M) { world.Main(m) }
