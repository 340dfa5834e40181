package main

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// canaries are secret values that must not appear in any output, by kind of secret.
type canaries map[string]string

// addValue has a value looked for, and returns it.
func (c canaries) addValue(what, value string) string {
	if len(value) < 8 {
		panic(what + " is too short to be looked for: " + strconv.Quote(value))
	}
	c[what] = value
	return value
}

// listEncodings returns the ways in which a log shows a value: as it is, in base64 wherever in a text it was, and in the lines of a hex dump,
// which have 16 characters each.
func listEncodings(value string) []string {
	out := []string{value}
	for before := range 3 {
		encoded := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(" ", before) + value))
		// The outermost characters contain bits of the text beside the value.
		out = append(out, strings.TrimRight(encoded, "=")[(before*4+2)/3:len(value)*4/3-1])
	}
	for at := 0; at < 16 && at+16 <= len(value); at++ {
		out = append(out, "|"+value[at:at+16]+"|")
	}
	return out
}

// accessToken is any JSON Web Token: those for Azure and Kubernetes are made while the test runs.
var accessToken = regexp.MustCompile(`eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}`)

// checkText fails the test for every canary in a text.
func (c canaries) checkText(t *testing.T, where, text string) {
	t.Helper()
	for what, value := range c {
		for _, form := range listEncodings(value) {
			if at := strings.Index(text, form); at >= 0 {
				t.Errorf("%s shows up in %s: %q", what, where, text[max(0, at-200):min(len(text), at+20)])
				break
			}
		}
	}
	if found := accessToken.FindString(text); found != "" {
		t.Errorf("an access token shows up in %s: %.40s...", where, found)
	}
}

// TestForms finds a canary in what logs make of it.
func TestForms(t *testing.T) {
	t.Parallel()
	const value = "canary-0123456789-abcdefghijklmno"
	for before := range 20 {
		text := strings.Repeat("-", before) + value + " and more of it"
		for what, shown := range map[string]string{"text": text, "base64": base64.StdEncoding.EncodeToString([]byte(text)),
			"a dump": hexDump(text)} {
			found := false
			for _, form := range listEncodings(value) {
				found = found || strings.Contains(shown, form)
			}
			if !found {
				t.Errorf("behind %d characters it is not found in %s: %s", before, what, shown)
			}
		}
	}
}

// hexDump returns the right column of a hex dump.
func hexDump(text string) string {
	var out strings.Builder
	for at := 0; at < len(text); at += 16 {
		fmt.Fprintf(&out, "%08x |%s|\n", at, text[at:min(len(text), at+16)])
	}
	return out.String()
}

// TestCanaries runs the manager as loud as it gets, in both formats, gives it every secret-like input there is, and looks for
// each in everything that people get to see. There are no inputs for credentials of registries, and no traces.
func TestCanaries(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"text", "json"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			s := newScene(t, format)
			s.createInputs()
			s.canaries.checkText(t, "metrics", s.readMetrics())
			developer := s.createDeveloper()
			for _, profile := range []string{"goroutine?debug=2", "heap?debug=1", "allocs?debug=1", "block?debug=1", "mutex?debug=1", "cmdline"} {
				s.canaries.checkText(t, "the profile "+profile, s.readProfile(developer, profile))
			}
			for where, text := range s.collectOutput() {
				s.canaries.checkText(t, where, text)
			}
			// A crash prints the stacks of all goroutines, which is what this signal makes the runtime do.
			if err := s.command.Signal(syscall.SIGQUIT); err != nil {
				t.Fatal(err)
			}
			<-s.ended
			log := s.out.String()
			for _, text := range []string{"Response Body", "/api/v1/namespaces/", "goroutine "} {
				if !strings.Contains(log, text) {
					t.Errorf("the log is not as loud as it gets, or has no crash: there is no %q in %d bytes", text, len(log))
				}
			}
			s.canaries.checkText(t, "the log", log)
		})
	}
}
