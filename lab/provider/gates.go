package provider

import (
	"fmt"
	"regexp"
	"strings"
)

// gateVariables returns the variables of a release that set these feature gates, NAME=true,NAME=false. A gate that the release
// has no variable for cannot be set by those who install it, and so not here.
func gateVariables(components []byte, gates string) (map[string]string, error) {
	out := map[string]string{}
	for gate := range strings.SplitSeq(gates, ",") {
		if gate == "" {
			continue
		}
		name, value, _ := strings.Cut(gate, "=")
		variable := regexp.MustCompile(`[=,]` + regexp.QuoteMeta(name) + `=\$\{([A-Z0-9_]+):=`).FindSubmatch(components)
		if variable == nil {
			return nil, fmt.Errorf("feature gate %s: the release has no variable for it", name)
		}
		out[string(variable[1])] = value
	}
	return out, nil
}
