module sigs.k8s.io/cluster-api-provider-azure/hack/site

go 1.26.0

require (
	github.com/alecthomas/chroma/v2 v2.27.0
	github.com/chromedp/cdproto v0.159.3
	github.com/chromedp/chromedp v0.23.0
	github.com/google/go-cmp v0.7.0
	github.com/yuin/goldmark v1.8.7
	golang.org/x/net v0.62.0
	sigs.k8s.io/yaml v1.6.0
)

require (
	github.com/dlclark/regexp2/v2 v2.2.1 // indirect
	github.com/go-json-experiment/json v0.0.0-20260213210345-44df1a37e875 // indirect
	go.yaml.in/yaml/v2 v2.4.4 // indirect
)
