package conformance

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// AKS offers each version of Kubernetes for about a year, so old recordings name versions that the simulator refuses. oldestOffered and
// newestRecorded are the minor versions that the simulator offers, as recorded: https://learn.microsoft.com/azure/aks/supported-kubernetes-versions
const oldestOffered, newestRecorded = 31, 33

// All minor versions that are offered have the patches from 1 to lastPatch.
const lastPatch = 6

var kubernetesVersion = regexp.MustCompile(`("(?:current)?(?:[kK]ubernetes|[oO]rchestrator)Version": ?"1\.)(\d+)(\.\d+)?"`)

// shiftVersions moves the versions of Kubernetes of a recording, in requests and answers, by the same number of minor versions, so that the newest
// one that a request names is offered. Patches that are not offered become the nearest one that is.
func shiftVersions(all []exchange) []exchange {
	newest := 0
	for _, e := range all {
		for _, match := range kubernetesVersion.FindAllStringSubmatch(e.Body, -1) {
			minor, _ := strconv.Atoi(match[2]) // The pattern has digits only.
			newest = max(newest, minor)
		}
	}
	if newest == 0 || newest >= oldestOffered {
		return all
	}
	shift := func(text string) string {
		return kubernetesVersion.ReplaceAllStringFunc(text, func(found string) string {
			match := kubernetesVersion.FindStringSubmatch(found)
			minor, _ := strconv.Atoi(match[2])
			patch := match[3]
			if number, err := strconv.Atoi(strings.TrimPrefix(patch, ".")); err == nil {
				patch = fmt.Sprintf(".%d", min(max(number, 1), lastPatch))
			}
			return fmt.Sprintf(`%s%d%s"`, match[1], minor+newestRecorded-newest, patch)
		})
	}
	out := make([]exchange, len(all))
	for i, e := range all {
		e.Body, e.Answer = shift(e.Body), shift(e.Answer)
		out[i] = e
	}
	return out
}

func TestShiftVersions(t *testing.T) {
	const body, answer = `{"properties":{"kubernetesVersion":"%s","agentPoolProfiles":[{"orchestratorVersion":"%s"}]}}`, `{"currentKubernetesVersion": "%s"}`
	for name, c := range map[string]struct{ plane, pool, wantPlane, wantPool string }{
		"no longer offered": {"1.27.3", "1.26.6", "1.33.3", "1.32.6"},
		"no such patch":     {"1.27.9", "1.26.0", "1.33.6", "1.32.1"},
		"alias":             {"1.27", "1.27", "1.33", "1.33"},
		"offered":           {"1.32.5", "1.31.2", "1.32.5", "1.31.2"},
	} {
		got := shiftVersions([]exchange{{Body: fmt.Sprintf(body, c.plane, c.pool), Answer: fmt.Sprintf(answer, c.plane)}})[0]
		if got.Body != fmt.Sprintf(body, c.wantPlane, c.wantPool) || got.Answer != fmt.Sprintf(answer, c.wantPlane) {
			t.Errorf("%s: %s, %s", name, got.Body, got.Answer)
		}
	}
}
