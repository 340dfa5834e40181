// Package azure runs specs on a subscription: it checks the settings, tags every template, and deletes the resource groups that a run left.
package azure

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// Tag is the tag of every resource that specs create. Its value is the name of the run.
const Tag = "capz-e2e"

// RunVariable is the variable of the environment with the name of the run. The names of resource groups begin with it where the template has a
// variable for them.
const RunVariable = "E2E_RUN"

// tagged are the places of additional tags in the provider's kinds, as the line that opens them.
var tagged = map[string]string{
	"AzureCluster":                     "spec:",
	"AzureClusterTemplate":             "    spec:",
	"AzureManagedControlPlane":         "spec:",
	"AzureManagedControlPlaneTemplate": "    spec:",
}

// asoKinds are the resources in manifests of Azure Service Operator that have tags.
var asoKinds = regexp.MustCompile(`(?m)^( *)kind: (ResourceGroup|ManagedCluster|ManagedClustersAgentPool)$`)

var kindLine = regexp.MustCompile(`(?m)^kind: (\S+)$`)

// AddTags adds the tag to each object of a template that has tags of its own. Objects below them inherit it. Templates have variables in
// places of numbers, so they are no YAML before clusterctl has replaced the variables, and are changed as text.
func AddTags(template []byte, run string) ([]byte, error) {
	documents := strings.Split(string(template), "\n---\n")
	for i, document := range documents {
		kind := kindLine.FindStringSubmatch(document)
		if kind == nil {
			continue
		}
		changed, err := addTags(kind[1], document, run)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind[1], err)
		}
		documents[i] = changed
	}
	return []byte(strings.Join(documents, "\n---\n")), nil
}

func addTags(kind, document, run string) (string, error) {
	if opening, ok := tagged[kind]; ok {
		indent := opening[:len(opening)-len(strings.TrimLeft(opening, " "))] + "  "
		if strings.Contains(document, "\n"+indent+"additionalTags:\n") {
			return strings.Replace(document, "\n"+indent+"additionalTags:\n", "\n"+indent+"additionalTags:\n"+indent+"  "+Tag+": "+run+"\n", 1), nil
		}
		if !strings.Contains(document, "\n"+opening+"\n") {
			return "", fmt.Errorf("the line %q is missing", opening)
		}
		return strings.Replace(document, "\n"+opening+"\n", "\n"+opening+"\n"+indent+"additionalTags:\n"+indent+"  "+Tag+": "+run+"\n", 1), nil
	}
	// A class writes the manifests of its clusters in patches.
	if !strings.HasPrefix(kind, "AzureASOManaged") && kind != "ClusterClass" {
		return document, nil
	}
	return addASOTags(document, run)
}

// addASOTags adds the tag to each resource in the manifests of a document.
func addASOTags(document, run string) (string, error) {
	var out bytes.Buffer
	indent := ""
	for line := range strings.Lines(document) {
		out.WriteString(line)
		if found := asoKinds.FindStringSubmatch(strings.TrimRight(line, "\n")); found != nil {
			indent = found[1]
			continue
		}
		if indent != "" && strings.TrimRight(line, "\n") == indent+"spec:" {
			out.WriteString(indent + "  tags:\n" + indent + "    " + Tag + ": " + run + "\n")
			indent = ""
		}
	}
	if indent != "" {
		return "", fmt.Errorf("a resource has no spec")
	}
	return out.String(), nil
}
