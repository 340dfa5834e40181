package notes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const decisions = `# Design notes

| Note | In one sentence |
|---|---|
| [First](first.md) | It begins. |
| [Second](second.md) | It goes [on](first.md). |
`

const differences = "# Differences from the other\n\nSee [the book](book/README.md).\n\n## Identity\n\n| There | Here |\n"

func TestWrite(t *testing.T) {
	got, err := Write(Release{Version: "v1.2.3", Image: "host/name:v1.2.3@sha256:0", Decisions: decisions, Differences: differences})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# v1.2.3

The image is

    host/name:v1.2.3@sha256:0

and ` + "`sbom.spdx.json`" + ` lists its contents. ` + "`sha256sum -c SHA256SUMS`" + ` checks the files beside this one.

## Decisions

- First: It begins.
- Second: It goes on.

## Differences from the other

See the book.

### Identity

| There | Here |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, test := range map[string]struct{ reason, decisions, differences, named string }{
		"no table": {"notes without decisions would look as if there were none", "# Design notes\n", differences, "docs/design/README.md"},
		"no title": {"the page lacks its title", decisions, "There | Here\n", "docs/differences.md"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Write(Release{Decisions: test.decisions, Differences: test.differences})
			if err == nil || !strings.Contains(err.Error(), test.named) {
				t.Errorf("%s: %v, want an error that names %s", test.reason, err, test.named)
			}
		})
	}
}
