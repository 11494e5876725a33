package cabinet

import "rsc.io/qr"

// qrModules encodes text as a QR code. It returns nil if the text is too long.
func qrModules(text string) [][]bool {
	code, err := qr.Encode(text, qr.M)
	if err != nil {
		return nil
	}
	out := make([][]bool, code.Size)
	for y := range out {
		out[y] = make([]bool, code.Size)
		for x := range out[y] {
			out[y][x] = code.Black(x, y)
		}
	}
	return out
}
