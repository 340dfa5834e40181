package conformance

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

var (
	stamp  = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)?`)
	public = regexp.MustCompile(`\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b`)
	secret = regexp.MustCompile(`^[A-Za-z0-9+/=]{40,}$`)
	// compact is a GUID with or without hyphens: the names of disks and some messages have them so.
	compact = regexp.MustCompile(`[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}`)
	// numbers are a version in three parts.
	numbers = regexp.MustCompile(`^\d+\.\d+\.\d+$`)
	// wait is the time that a refusal names until a busy resource can be written again.
	wait = regexp.MustCompile(`can be retried in \d+ seconds`)
)

// blank are the texts that replace keys and kubeconfigs in the recordings.
var blank = map[string]bool{"{KEY}": true, "IA==": true}

// invented are values that Azure chooses, by their key: equal if both sides have one of that form.
var invented = map[string]*regexp.Regexp{
	// Identifiers of Azure Monitor and of AKS, and addresses with a random part. The rest of these is compared.
	"immutableId": regexp.MustCompile(`[0-9a-f]{32}$`), "resourceUID": regexp.MustCompile(`^[0-9a-f]{24}$`),
	"azurePortalFQDN": regexp.MustCompile(`-[a-z0-9]{8}\.`), "portalFqdn": regexp.MustCompile(`-[a-z0-9]{8}\.`), "prometheusQueryEndpoint": regexp.MustCompile(`-[a-z0-9]{16}\.`),
	"endpoint": regexp.MustCompile(`-[a-z0-9]{4}\.`),
	// The version of a key.
	"keyUriWithVersion": regexp.MustCompile(`/[0-9a-f]{32}$`),
	// Seconds since 1970.
	"created": regexp.MustCompile(`^\d{9,10}$|^\d\.\d+e\+09$`), "updated": regexp.MustCompile(`^\d{9,10}$|^\d\.\d+e\+09$`),
	// The sender is in the token, which the recordings leave out.
	"createdBy": sender, "lastModifiedBy": sender, "createdByType": senderType, "lastModifiedByType": senderType,
	// AKS's intermediate states depend on timing, which is not compared.
	"status": regexp.MustCompile(`^(InProgress|(Provisioning|Reconciling|Upgrading)[A-Za-z]+|CreatingAgentPools?(: \d+/\d+ nodes completed)?)$`),
	// Azure chooses the name servers of a zone.
	"nameServers": regexp.MustCompile(`-0\d\.`),
	// The latest node image depends on the time of the recording; requests cannot name one.
	"nodeImageVersion": regexp.MustCompile(`-\d{6}\.\d+\.\d+$`),
}

var (
	sender     = regexp.MustCompile(`^(GUID|[^@\s]+@[^@\s]+)$`)
	senderType = regexp.MustCompile(`^(User|Application)$`)
)

// maskRandomValues writes a value without the parts that Azure generates: GUIDs, times, public addresses, secrets, and
// the signatures of URLs. IDs are equal in any casing.
func maskRandomValues(value any) string {
	s, isString := value.(string)
	if !isString {
		raw, _ := json.Marshal(value)
		return string(raw)
	}
	if u, err := url.Parse(s); err == nil && u.Scheme == "https" && u.Host != "" {
		u.RawQuery = ""
		s = u.String()
	}
	s = wait.ReplaceAllString(s, "can be retried in WAIT")
	if secret.MatchString(s) && !strings.Contains(strings.ToLower(s), "/subscriptions/") || blank[s] {
		return "SECRET"
	}
	s = stamp.ReplaceAllString(compact.ReplaceAllString(s, "GUID"), "TIME")
	s = public.ReplaceAllStringFunc(s, func(address string) string {
		if strings.HasPrefix(address, "10.") || strings.HasPrefix(address, "172.") || strings.HasPrefix(address, "192.168.") {
			return address
		}
		return "ADDRESS"
	})
	if strings.Contains(strings.ToLower(s), "/subscriptions/") {
		s = strings.ToLower(s)
	}
	return s
}

// generatedKeys are keys whose values Azure generates.
var generatedKeys = map[string]bool{"etag": true, "eTag": true, "resourceGuid": true, "uniqueId": true, "fqdn": true,
	"internalDomainNameSuffix": true, "macAddress": true, "t": true}

// collectScalars adds the values of a document by their path. Elements of arrays are numbered: the order counts.
func collectScalars(document any, at string, into map[string]string) {
	switch d := document.(type) {
	case map[string]any:
		for key, value := range d {
			if version, ok := value.(string); ok {
				value = maskLatestVersion(d, key, version)
			}
			if !generatedKeys[key] {
				collectScalars(value, foldPath(at, key), into)
			}
		}
		if len(d) == 0 {
			into[at] = "{}"
		}
	case []any:
		for i, value := range d {
			collectScalars(value, fmt.Sprintf("%s[%d]", at, i), into)
		}
		if len(d) == 0 {
			into[at] = "[]"
		}
	default:
		into[at] = maskRandomValues(d)
		key, _, _ := strings.Cut(at[strings.LastIndexByte(at, '.')+1:], "[") // that of a list, for its elements
		if form := invented[key]; form != nil {
			into[at] = form.ReplaceAllString(into[at], "INVENTED")
		}
	}
}

// maskLatestVersion writes a version without the part that was the latest on the day of the recording: the whole
// version of an image of which the request, which the resource repeats, wanted the latest one, and the patch of a
// release of Kubernetes of which it named only the minor version, or none.
func maskLatestVersion(d map[string]any, key, version string) string {
	other := func(key string) string {
		s, _ := d[key].(string)
		return s
	}
	asked := map[string]string{"currentKubernetesVersion": "kubernetesVersion", "currentOrchestratorVersion": "orchestratorVersion"}[key]
	switch {
	case key == "exactVersion" && other("version") == "latest":
		return numbers.ReplaceAllString(version, "LATEST")
	case asked != "" && strings.Count(version, ".") == 2 && strings.Count(other(asked), ".") == 1:
		return version[:strings.LastIndexByte(version, '.')] + ".PATCH"
	}
	return version
}

// compareValues lists where two documents have different values, and what one has too much.
func compareValues(recorded, got any) []string {
	want, have := map[string]string{}, map[string]string{}
	collectScalars(recorded, "", want)
	collectScalars(got, "", have)
	var out []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if is, there := have[path]; !there {
			out = append(out, path+" is missing")
		} else if is != want[path] {
			out = append(out, fmt.Sprintf("%s is %.300s instead of %.300s", path, is, want[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(have)) {
		if _, there := want[path]; !there {
			out = append(out, path+" is present, Azure sent none")
		}
	}
	return out
}
