package view

import "github.com/a-h/templ"

// Field is a labelled control of a form.
type Field struct {
	Name         string // also its id
	Label        string
	Help         string
	Type         string // text by default
	Value        string
	Error        string
	Placeholder  string
	Autocomplete string
	Mode         string // inputmode
	Optional     bool
	Focus        bool
	Mono         bool
	MaxLength    int
}

func (f Field) kind() string {
	if f.Type == "" {
		return "text"
	}
	return f.Type
}

// described names the elements that explain the control, for a screen reader.
func described(id, help, problem string) templ.Attributes {
	ids := ""
	if problem != "" {
		ids = id + "-error"
	}
	if help != "" {
		if ids != "" {
			ids += " "
		}
		ids += id + "-help"
	}
	attrs := templ.Attributes{}
	if ids != "" {
		attrs["aria-describedby"] = ids
	}
	if problem != "" {
		attrs["aria-invalid"] = "true"
	}
	return attrs
}

// Link attributes that htmx turns into smooth acts. Without it they are links.

// inDialog opens the confirm page behind a link in a dialog.
func inDialog(path string) templ.Attributes {
	return templ.Attributes{
		"hx-get": path, "hx-select": "#confirm", "hx-target": "#dialog", "hx-swap": "innerHTML",
	}
}

// inDrawer opens the page behind a link beside the list it is in.
func inDrawer(path string) templ.Attributes {
	return templ.Attributes{
		"hx-get": path, "hx-select": "#detail", "hx-target": "#drawer-body", "hx-swap": "innerHTML",
	}
}

// inPlace swaps one part of the page for the same part of the answer.
func inPlace(part string) templ.Attributes {
	return templ.Attributes{
		"hx-select": part, "hx-target": part, "hx-swap": "outerHTML",
	}
}

// inList does so for a list, whose filter and page stay in the address.
func inList(path, part string) templ.Attributes {
	attrs := inPlace(part)
	attrs["hx-get"], attrs["hx-push-url"] = path, "true"
	return attrs
}
