package browser

import (
	"strings"
	"testing"
)

// drop drops a file on the page, as from the desktop, outside the field.
func (b *tab) drop(name, content string) {
	b.Helper()
	script := `(() => { const files = new DataTransfer(); files.items.add(new File([` + quote(content) + `], ` + quote(name) + `));
		const fire = (kind) => document.querySelector('h1').dispatchEvent(new DragEvent(kind, {dataTransfer: files, bubbles: true, cancelable: true}));
		return fire('dragover') === false && fire('drop') === false && document.querySelector('input[type=file]').files[0]?.name === ` + quote(name) + ` })()`
	b.waitFor("a page that takes the file", script)
}

// choose chooses an option of the field with a label.
func (b *tab) choose(label, value string) {
	b.Helper()
	b.waitFor("the field “"+label+"”", `((s) => s !== undefined && (s.value = `+quote(value)+`, s.dispatchEvent(new Event('change', {bubbles: true})), true))(
		[...document.querySelectorAll('select')].find(s => s.labels[0]?.innerText === `+quote(label)+`))`)
}

// TestDroppedFileIsMatchedCheckedAndRemembered imports a file with columns that nobody
// could guess: it is dropped on the page, its columns show three values each, the check
// shows the old value and the new, and the next file of the kind is matched already.
func TestDroppedFileIsMatchedCheckedAndRemembered(t *testing.T) {
	t.Parallel()
	onEachEngine(t, func(t *testing.T, f *fixture) {
		b := f.administrator()
		b.postForm("/cabinet/employees/new", "name", "Anna Kalna", "email", "anna.k@baltic.example", "role", "employee")
		table := strings.Join([]string{
			"Wer;Post;Gruppe", "Anna Ozola;anna.k@baltic.example;port", "Boris;boris@baltic.example;port", "Clara;clara;office", "Dita;dita@baltic.example;office", "",
		}, "\n")
		b.open("/cabinet/employees/import")
		b.waitFor("a template", `[...document.querySelectorAll('a')].find(a => a.innerText === 'Download a template')?.download === ''`)
		b.drop("people.csv", table)
		b.click("Continue")
		b.waitForText("people.csv, 4 rows.")
		b.waitForText("Anna Ozola · Boris · Clara")
		b.waitForText("port · port · office")
		b.choose("Wer holds", "name")
		b.click("Check")
		b.waitForText("Choose the columns that hold the name and the e-mail.")
		b.choose("Wer holds", "name")
		b.choose("Post holds", "email")
		b.choose("Gruppe holds", "tags")
		b.click("Check")
		b.waitForText("1 row has an error and is left out.")
		b.waitFor("the figures", `['New\n2', 'Changed\n1', 'Errors\n1', 'Missing from the file\n0'].every(f => document.querySelector('.figures').innerText.includes(f))`)
		b.waitFor("the old value and the new", `[...document.querySelectorAll('#changes-title ~ * tbody tr')].some(r => /Name\s+Anna Kalna\s+Anna Ozola/.test(r.innerText))`)
		b.click("Import 3 people")
		b.waitForText("1 row could not be imported")
		failed := evaluateAsync[string](b, `fetch([...document.querySelectorAll('a')].find(a => a.innerText === 'Download these rows').href).then(r => r.text())`)
		if !strings.Contains(failed, "Clara,clara,office,") || strings.Contains(failed, "Boris") {
			t.Errorf("the file of what failed is %q", failed)
		}
		result := evaluateAsync[string](b, `fetch([...document.querySelectorAll('a')].find(a => a.innerText === 'Download what happened to each row').href).then(r => r.text())`)
		for _, want := range []string{"2,changed,,", "3,new,,", "4,failed,,", "5,new,,"} {
			if !strings.Contains(result, want) {
				t.Errorf("the result %q lacks %q", result, want)
			}
		}
		b.open("/cabinet/employees/import")
		b.fill("textarea[name=text]", "name,email\nEdgars,edgars@baltic.example\n")
		b.click("Continue")
		b.waitForText("pasted.csv, 1 row.")
		b.open("/cabinet/employees/import")
		b.drop("people.csv", table)
		b.click("Continue")
		b.waitFor("the columns as they were matched", `['name', 'email', 'tags'].every((f, i) => document.querySelector('[name=column' + i + ']')?.value === f)`)
		b.open("/cabinet/employees/import")
		b.drop("no-head.csv", "Anna,anna.k@baltic.example\nBoris,boris@baltic.example\n")
		b.click("Continue")
		b.waitForText("The first row must name the columns")
	})
}
