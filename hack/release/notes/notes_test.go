package notes

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const page = `# Release notes

For maintainers.

## Breaking changes

- The flag a is [b](book/manager.md) now. Replace it.

## New

- None.

## Fixed

- See https://issues.example/1.

## Upgrade from

| From | Steps |
|---|---|
| v1 | upgrade to VERSION |

## Known issues

- None.
`

const differences = "# Differences from the other\n\n## Differences that need action\n\n| Difference | Do |\n|---|---|\n| One | [This](x.md) |\n\n## Status\n\n| a | b |\n"

func TestWrite(t *testing.T) {
	got, err := Write(Release{Version: "v1.2.3", Image: "host/name:v1.2.3@sha256:0", Notes: page, Differences: differences})
	if err != nil {
		t.Fatal(err)
	}
	const want = `# v1.2.3

The image is

    host/name:v1.2.3@sha256:0

and ` + "`sbom.spdx.json`" + ` lists its contents. ` + "`images.txt`" + ` has the images to copy for an installation without access to the internet. ` + "`sha256sum -c SHA256SUMS`" + ` checks the files beside this one.

## Breaking changes

- The flag a is b now. Replace it.

## New

- None.

## Fixed

- See https://issues.example/1.

## Upgrade from

| From | Steps |
|---|---|
| v1 | upgrade to v1.2.3 |

## Known issues

- None.

## Moving from CAPZ

| Difference | Do |
|---|---|
| One | This |
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}

func TestWriteRefuses(t *testing.T) {
	for name, test := range map[string]struct{ reason, notes, differences, named string }{
		"no section":  {"users would take it for nothing", strings.Replace(page, "## Fixed", "## Mended", 1), differences, `no section "Fixed"`},
		"no entry":    {"a section without entries has the entry None", strings.Replace(page, "## New\n\n- None.", "## New\n", 1), differences, `section "New" is empty`},
		"no list":     {"entries are lines", strings.Replace(page, "- See", "See", 1), differences, "neither a list nor a table"},
		"other order": {"users read what breaks first", strings.NewReplacer("## New", "## Fixed", "## Fixed", "## New").Replace(page), differences, "after those before it"},
		"no actions":  {"the page lacks its table", page, "# Differences\n", "docs/differences.md"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Write(Release{Notes: test.notes, Differences: test.differences})
			if err == nil || !strings.Contains(err.Error(), test.named) {
				t.Errorf("%s: %v, want an error with %s", test.reason, err, test.named)
			}
		})
	}
}
