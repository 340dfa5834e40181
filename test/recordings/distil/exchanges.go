package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	yaml "go.yaml.in/yaml/v3"
)

// exchange is a line of a file: one recorded request with its answer.
type exchange struct {
	// Recording is the file of the module, below the directory with its recordings and without the extension. Index is the place in it.
	Recording string `json:"recording"`
	Index     int    `json:"index"`
	// Time is when Azure's edge server got the request. It is empty in old recordings.
	Time   string `json:"time,omitempty"`
	Method string `json:"method"`
	// URL has no scheme and host if these are Azure Resource Manager's.
	URL string `json:"url"`
	// Match has the preconditions of the request, If-Match and If-None-Match.
	Match  map[string]string `json:"match,omitempty"`
	Body   any               `json:"body,omitempty"`
	Status int               `json:"status"`
	// Header has the headers of operations.
	Header map[string]string `json:"header,omitempty"`
	Answer any               `json:"answer,omitempty"`
}

// namespaces are those whose exchanges tests compare. Of others only the answers with the principal of an identity are kept, because role
// assignments refer to them.
var namespaces = map[string]bool{"microsoft.alertsmanagement": true, "microsoft.authorization": true, "microsoft.compute": true, "microsoft.containerregistry": true,
	"microsoft.containerservice": true, "microsoft.dataprotection": true, "microsoft.insights": true, "microsoft.keyvault": true, "microsoft.kubernetesconfiguration": true,
	"microsoft.managedidentity": true, "microsoft.monitor": true, "microsoft.network": true, "microsoft.operationalinsights": true,
	"microsoft.resources": true, "microsoft.storage": true}

// writeExchanges writes the exchanges of all YAML files below root whose path contains within, one file per resource type.
func writeExchanges(root, within, to string) error {
	files := map[string]*bytes.Buffer{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" || !strings.Contains(filepath.ToSlash(path), within) {
			return err
		}
		name, err := filepath.Rel(root, strings.TrimSuffix(path, ".yaml"))
		if err != nil {
			return err
		}
		// The recordings of client libraries are named for their clouds alone, in a directory of their client.
		all, err := readRecording(path, strings.ReplaceAll(filepath.ToSlash(name), "/testdata/", "_"))
		if err != nil {
			return err
		}
		for _, e := range all {
			typ := fileName(e.URL)
			if typ == "" {
				continue
			}
			if files[typ] == nil {
				files[typ] = &bytes.Buffer{}
			}
			encoder := json.NewEncoder(files[typ])
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(e); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(to, name+".jsonl"), files[name].Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// readRecording reads a file of the module.
func readRecording(path, name string) ([]exchange, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var recording struct {
		Interactions []struct {
			Request struct {
				Body, URL, Method string
				Headers           map[string][]string
			}
			Response struct {
				Body    string
				Headers map[string][]string
				Code    int
			}
		}
	}
	if err := yaml.Unmarshal(raw, &recording); err != nil {
		return nil, err
	}
	var out []exchange
	for index, i := range recording.Interactions {
		e := exchange{Recording: name, Index: index, Method: i.Request.Method, URL: cleanURL(i.Request.URL), Status: i.Response.Code}
		for header, values := range i.Request.Headers {
			if name := strings.ToLower(header); name == "if-match" || name == "if-none-match" {
				if e.Match == nil {
					e.Match = map[string]string{}
				}
				e.Match[name] = values[0]
			}
		}
		for header, values := range i.Response.Headers {
			switch strings.ToLower(header) {
			case "azure-asyncoperation", "location", "retry-after":
				if e.Header == nil {
					e.Header = map[string]string{}
				}
				e.Header[strings.ToLower(header)] = cleanURL(values[0])
			case "x-msedge-ref":
				_, after, _ := strings.Cut(values[0], "Ref C: ")
				e.Time = strings.TrimSpace(after)
			}
		}
		if namespace := namespaceOf(e.URL); namespace == "" || namespaces[namespace] {
			e.Body, e.Answer = cleanBody(i.Request.Body), cleanBody(shortenList(i.Response.Body))
		} else if principal := principalID.FindString(i.Response.Body); principal != "" {
			// Role assignments of the same recording are for the identity.
			e.Answer = json.RawMessage("{" + principal + "}")
		} else {
			continue
		}
		out = append(out, e)
	}
	return out, nil
}

var principalID = regexp.MustCompile(`"principalId": ?"[0-9a-f-]{36}"`)

// resourceManagers are the hosts of Azure Resource Manager in Azure's public cloud and in Azure China.
var resourceManagers = []string{"https://management.azure.com", "https://management.chinacloudapi.cn"}

// cleanURL removes Azure Resource Manager's host, and the signatures of URLs of operations.
func cleanURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return raw
	}
	if query := u.Query(); query.Has("s") && query.Has("h") || query.Has("sig") {
		maps.DeleteFunc(query, func(key string, _ []string) bool { return key != "api-version" && key != "monitor" })
		u.RawQuery = query.Encode()
	}
	out := u.String()
	for _, host := range resourceManagers {
		out = strings.TrimPrefix(out, host)
	}
	return out
}

var (
	person = regexp.MustCompile(`[A-Za-z0-9._%+-]+@[A-Za-z0-9.-]+\.[a-z]{2,}`)
	// key is a property whose value is secret and has not been blanked out by the module's recorder.
	key = regexp.MustCompile(`("(?:[a-zA-Z]*(?:Key|Secret|Password|ConnectionString)|sharedKey|value)":\s*")(?:[0-9a-f]{32}|[A-Za-z0-9+/]{40,}={0,2})"`)
	// signature is that of a URL in a body.
	signature = regexp.MustCompile(`([?&]sig=)[^"&]+`)
)

// cleanBody returns a body as JSON without names of persons and without keys; as text if it is not JSON.
func cleanBody(body string) any {
	body = strings.TrimSpace(body)
	if body == "" {
		return nil
	}
	body = person.ReplaceAllString(body, "someone@example.com")
	body = key.ReplaceAllString(body, `$1{KEY}"`)
	body = signature.ReplaceAllString(body, `$1{KEY}`)
	if json.Valid([]byte(body)) {
		return json.RawMessage(body)
	}
	return body
}

// longList is how many items a list may have to be kept whole. Lists of built-in roles are longer.
const longList = 100

// shortenList returns a list of many items with the first item of each set of keys. Clients learn nothing more from the others.
func shortenList(body string) string {
	var list map[string]json.RawMessage
	var items []map[string]any
	if json.Unmarshal([]byte(body), &list) != nil || json.Unmarshal(list["value"], &items) != nil || len(items) <= longList {
		return body
	}
	seen := map[string]bool{}
	items = slices.DeleteFunc(items, func(item map[string]any) bool {
		properties, _ := item["properties"].(map[string]any)
		keys := strings.Join(slices.Sorted(maps.Keys(item)), ",") + strings.Join(slices.Sorted(maps.Keys(properties)), ",")
		defer func() { seen[keys] = true }()
		return seen[keys]
	})
	list["value"], _ = json.Marshal(items)
	short, _ := json.Marshal(list)
	return string(short)
}

// namespaceOf returns the namespace of a URL's last provider in lower case.
func namespaceOf(raw string) string {
	path, _, _ := strings.Cut(strings.ToLower(raw), "?")
	at := strings.LastIndex(path, "/providers/")
	if at < 0 {
		return ""
	}
	namespace, _, _ := strings.Cut(path[at+len("/providers/"):], "/")
	return namespace
}

var unsafe = regexp.MustCompile(`[^a-z0-9._]+`)

// fileName returns the file of a URL: its resource type in lower case, with "_" for "/". It is empty for other hosts.
func fileName(raw string) string {
	path, _, _ := strings.Cut(strings.ToLower(raw), "?")
	namespace := namespaceOf(raw)
	switch {
	case strings.HasPrefix(path, "http"):
		return "" // another host
	case namespace == "" && strings.Contains(path, "/operationresults/"):
		return "operationresults" // deletions of resource groups
	case namespace == "" && strings.Contains(path, "/resourcegroups"):
		return "microsoft.resources_resourcegroups"
	case namespace == "":
		return "other"
	case !namespaces[namespace]:
		return "principals"
	}
	segments := strings.Split(path[strings.LastIndex(path, "/providers/")+len("/providers/"):], "/")
	name := namespace
	for i := 1; i < len(segments); i += 2 {
		if i == 1 || i+1 < len(segments) { // The last segment without a name is an action or a list of the resource.
			name += "_" + segments[i]
		}
		if segments[i] == "locations" {
			break
		}
	}
	return cmp.Or(unsafe.ReplaceAllString(name, "-"), "other")
}
