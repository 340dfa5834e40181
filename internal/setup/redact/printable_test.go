package redact_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-logr/logr"

	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// TestTextFromOutside logs text with line breaks, control characters and without end, in each part of a line.
func TestTextFromOutside(t *testing.T) {
	evil := "Azure \x1b[2J\r\nI0101 forged \u202e" + strings.Repeat("x", 100_000)
	for name, log := range map[string]func(logr.Logger){
		"message": func(to logr.Logger) { to.Info(evil) },
		"value":   func(to logr.Logger) { to.Info("m", "cause", evil) },
		"error":   func(to logr.Logger) { to.Error(errors.New(evil), "m") },
		"struct":  func(to logr.Logger) { to.Info("m", "cause", struct{ Text string }{evil}) },
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			log(newLogger(&out))
			if got := out.String(); strings.ContainsAny(got, "\x1b\r\n\u202e") || len(got) > 2*text.MaxLog || !strings.Contains(got, "forged") {
				t.Errorf("%d bytes are logged: %q", len(got), got[:min(len(got), 200)])
			}
		})
	}
	if got := redact.RedactText("fine"); got != "fine" {
		t.Errorf("got %q", got)
	}
}
