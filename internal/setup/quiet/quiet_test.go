package quiet_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/quiet"
)

func TestQuiet(t *testing.T) {
	tests := map[string]struct {
		reason string
		log    func(logr.Logger)
		shown  bool
	}{
		"own":                 {"lines of the manager are as loud as they are", func(l logr.Logger) { l.WithName("setup").Info("m") }, true},
		"library":             {"the start of a server is no change", func(l logr.Logger) { l.WithName("controller-runtime").Info("m") }, false},
		"part of the library": {"the start of a part of the library is no change", func(l logr.Logger) { l.WithName("controller-runtime.webhook").WithName("x").Info("m") }, false},
		"name below":          {"another logger may have a part of this name", func(l logr.Logger) { l.WithName("a").WithName("controller-runtime").Info("m") }, true},
		"similar name":        {"it is another library", func(l logr.Logger) { l.WithName("controller-runtimes").Info("m") }, true},
		"watch":               {"the watches of a controller are no change", func(l logr.Logger) { l.WithValues("controller", "c").Info("m") }, false},
		"reconciliation": {"its lines are changes", func(l logr.Logger) {
			l.WithValues("controller", "c").WithValues("name", "n", "reconcileID", "1").Info("m")
		}, true},
		"error":                {"errors are always shown", func(l logr.Logger) { l.WithName("controller-runtime").Error(errors.New("e"), "m") }, true},
		"own with a level":     {"levels of other lines do not change", func(l logr.Logger) { l.V(2).Info("m") }, true},
		"own above that level": {"levels of other lines do not change", func(l logr.Logger) { l.V(3).Info("m") }, false},
	}
	for name, test := range tests {
		var out strings.Builder
		test.log(quiet.Logger(funcr.New(func(_, text string) { out.WriteString(text) }, funcr.Options{Verbosity: 2})))
		if got := out.Len() > 0; got != test.shown {
			t.Errorf("%s: %s: shown is %t", name, test.reason, got)
		}
	}
	if quiet.Logger(logr.Discard()).GetSink() != nil {
		t.Error("a logger that drops everything has got a sink")
	}
}

// TestCaller checks that lines have the position of the call.
func TestCaller(t *testing.T) {
	var out strings.Builder
	quiet.Logger(funcr.New(func(_, text string) { out.WriteString(text) }, funcr.Options{LogCaller: funcr.All})).WithValues("a", 1).Info("m")
	if !strings.Contains(out.String(), `"file"="quiet_test.go"`) {
		t.Errorf("the line is %s", out.String())
	}
}
