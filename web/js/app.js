// What the pages do beyond links and forms. Every page works without it.
import "htmx.org";
import "./bulk.js";
import "./busy.js";
import "./copy.js";
import "./dialog.js";
import "./drop.js";
import "./filter.js";
import "./key.js";
import "./live.js";
import "./print.js";
import "./theme.js";
import "./time.js";
import "./tip.js";
import "./toast.js";
