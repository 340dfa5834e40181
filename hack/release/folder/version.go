package folder

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"sigs.k8s.io/yaml"
)

// versions are those that clusterctl and tags of images both take: semantic ones with a v and without build metadata.
var versions = regexp.MustCompile(`^v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)

// CheckVersion refuses what clusterctl could not install: a version that it does not understand, or one whose series is not
// in metadata.yaml.
func CheckVersion(root, version string) error {
	found := versions.FindStringSubmatch(version)
	if found == nil {
		return fmt.Errorf("VERSION=%s: is no version as in v2.1.0 or v2.1.0-rc.1", version)
	}
	raw, err := os.ReadFile(filepath.Join(root, "metadata.yaml"))
	if err != nil {
		return err
	}
	var metadata struct {
		ReleaseSeries []struct{ Major, Minor int }
	}
	if err := yaml.Unmarshal(raw, &metadata); err != nil {
		return fmt.Errorf("metadata.yaml: %w", err)
	}
	for _, series := range metadata.ReleaseSeries {
		if strconv.Itoa(series.Major) == found[1] && strconv.Itoa(series.Minor) == found[2] {
			return nil
		}
	}
	return fmt.Errorf("VERSION=%s: metadata.yaml has no release series %s.%s, so clusterctl would not know its contract; add {major: %s, minor: %s, contract: ...}",
		version, found[1], found[2], found[1], found[2])
}
