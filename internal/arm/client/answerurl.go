package client

import (
	"fmt"
	"net/url"
	"strings"
)

// resolveAnswerURL checks a URL from an answer of Azure, a nextLink, Location or Azure-AsyncOperation, and returns the URL to request.
// The request carries the bearer token, which every host that receives it can use. So the host has to be the configured Resource
// Manager, or a region below it: answers name https://eastus.management.azure.com/ where the request went to
// https://management.azure.com/, as the output in
// https://learn.microsoft.com/en-us/azure/operator-nexus/concepts-network-fabric-read-write-commands shows. The error leaves out the
// URL, because it may be long and signed.
func (c *Client) resolveAnswerURL(text string) (string, error) {
	if len(text) > maxHeader {
		return "", fmt.Errorf("the answer names a URL of %d characters", len(text))
	}
	parsed, err := url.Parse(text)
	if err != nil {
		return "", fmt.Errorf("the answer names a URL that cannot be parsed")
	}
	if !parsed.IsAbs() && parsed.Host == "" {
		return c.endpoint + "/" + strings.TrimLeft(text, "/"), nil
	}
	manager, err := url.Parse(c.endpoint)
	if err != nil {
		return "", fmt.Errorf("the endpoint of Resource Manager is not a URL")
	}
	regional := *parsed
	if region, rest, ok := strings.Cut(parsed.Hostname(), "."); ok && region != "" && strings.EqualFold(rest, manager.Hostname()) {
		regional.Host = strings.Replace(parsed.Host, parsed.Hostname(), rest, 1)
	}
	if parsed.User != nil || parsed.Opaque != "" || !sameHost(parsed, manager) && !sameHost(&regional, manager) {
		return "", fmt.Errorf("the answer names a URL of host %q, which is not the Resource Manager %q",
			truncateText(parsed.Host, maxCode), manager.Host)
	}
	return text, nil
}
