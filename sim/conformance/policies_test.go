package conformance

import (
	"net/url"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
)

// policy is one that recorded subscriptions have: it changes the requests that create resources of a type, as the effect Modify does.
type policy struct {
	typ string
	// path finds the requests of the type.
	path *regexp.Regexp
	// shown finds the effect in answers, and asked the same in requests. A recording whose requests ask for it shows no policy.
	shown, asked *regexp.Regexp
	patch        map[string]any
}

// policies are facts about recorded subscriptions, which the simulator cannot know. Of several policies of a type, the first whose effect a
// recording shows counts.
var policies = []policy{
	{"Microsoft.Compute/virtualMachines", regexp.MustCompile(`(?i)/virtualMachines/[^/]+$`), regexp.MustCompile(`"azsecpack"`), anIdentity,
		map[string]any{"identity": map[string]any{"type": "SystemAssigned"}, "tags": securityTags()}},
	{"Microsoft.ContainerService/managedClusters", regexp.MustCompile(`(?i)/managedClusters/[^/]+$`),
		regexp.MustCompile(`"azurepolicy":\s*\{\s*"enabled":\s*true`), regexp.MustCompile(`"azurepolicy"`),
		map[string]any{"properties": map[string]any{"addonProfiles": map[string]any{"azurepolicy": map[string]any{"enabled": true}}}}},
	// https://learn.microsoft.com/azure/governance/machine-configuration/overview: built-in policies give machines an identity.
	{"Microsoft.Compute/virtualMachines", regexp.MustCompile(`(?i)/virtualMachines/[^/]+$`),
		regexp.MustCompile(`"identity":\s*\{\s*"type":\s*"SystemAssigned"`), anIdentity,
		map[string]any{"identity": map[string]any{"type": "SystemAssigned"}}},
	// Agents and tags of Microsoft's own subscriptions.
	{"Microsoft.Compute/virtualMachineScaleSets", regexp.MustCompile(`(?i)/virtualMachineScaleSets/[^/]+$`),
		regexp.MustCompile(`"azsecpack"`), regexp.MustCompile(`"azsecpack"|"extensionProfile"`),
		map[string]any{"tags": securityTags(),
			"properties": map[string]any{"virtualMachineProfile": map[string]any{"extensionProfile": map[string]any{"extensions": []any{
				securityAgent("Microsoft.Azure.Monitor", "AzureMonitorLinuxAgent", "1.0", map[string]any{"GCS_AUTO_CONFIG": true}),
				securityAgent("Microsoft.Azure.Security.Monitoring", "AzureSecurityLinuxAgent", "2.0",
					map[string]any{"enableGenevaUpload": true, "enableAutoConfig": true, "reportSuccessOnUnsupportedDistro": true})}}}}}},
	groupTag("creationdate"), groupTag("createdAt"), groupTag("Created"),
}

// anIdentity finds the requests that ask for an identity.
var anIdentity = regexp.MustCompile(`"identity":\s*\{\s*"type":\s*"[^N]`)

func groupTag(name string) policy {
	shown := regexp.MustCompile(`"` + name + `":`)
	return policy{groups, regexp.MustCompile(`(?i)/resourceGroups/[^/]+$`), shown, shown, map[string]any{"tags": map[string]any{name: "2001-02-03T04:05:06Z"}}}
}

func securityTags() map[string]any {
	return map[string]any{"azsecpack": "nonprod", "platformsettings.host_environment.service.platform_optedin_for_rootcerts": "true"}
}

func securityAgent(publisher, kind, version string, settings map[string]any) map[string]any {
	return map[string]any{"name": publisher + "." + kind, "properties": map[string]any{"publisher": publisher, "type": kind,
		"typeHandlerVersion": version, "autoUpgradeMinorVersion": true, "enableAutomaticUpgrade": true, "settings": settings}}
}

// recordedPolicies are those of the subscription that a recording shows.
func recordedPolicies(all []exchange) []fault.Rule {
	var out []fault.Rule
	seen := map[string]bool{}
	for _, p := range policies {
		asked, shown := false, false
		for _, e := range all {
			if p.path.MatchString(e.URL.Path) {
				asked = asked || p.asked.MatchString(e.Body)
				shown = shown || p.shown.MatchString(e.Answer)
			}
		}
		if shown && !asked && !seen[p.typ] {
			seen[p.typ] = true
			out = append(out, fault.Rule{Kind: fault.Modify, Method: "PUT", Type: p.typ, Count: -1, Patch: p.patch})
		}
	}
	return out
}

// A policy is a change that a recording shows without a request for it.
func TestPolicies(t *testing.T) {
	const clusters, addOn = "/providers/Microsoft.ContainerService/managedClusters/c", `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true,"config":null}}}}`
	const machines, identity = "/providers/Microsoft.Compute/virtualMachines/m", `{"identity":{"type":"SystemAssigned","principalId":"p"}}`
	for name, c := range map[string]struct {
		path, body, answer string
		want               string
	}{
		"added":          {clusters, `{"properties":{}}`, addOn, "Microsoft.ContainerService/managedClusters"},
		"asked for":      {clusters, `{"properties":{"addonProfiles":{"azurepolicy":{"enabled":true}}}}`, addOn, ""},
		"absent":         {clusters, `{"properties":{}}`, `{"properties":{}}`, ""},
		"identity":       {machines, `{}`, identity, "Microsoft.Compute/virtualMachines"},
		"identity asked": {machines, `{"identity":{"type":"SystemAssigned"}}`, identity, ""},
		"other type":     {"/providers/Microsoft.Storage/storageAccounts/a", `{}`, identity, ""},
	} {
		var got []string
		for _, rule := range recordedPolicies([]exchange{{URL: &url.URL{Path: c.path}, Body: c.body, Answer: c.answer}}) {
			got = append(got, rule.Type)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %q", name, got, c.want)
		}
	}
}
