// Signs in with a token that stands behind `#` in the address, as `portcullis try` prints it; browsers send that part to nobody.
"use strict";

const given = location.hash.slice(1);
if (/^pts_[a-z2-7]+$/.test(given)) {
  history.replaceState(null, "", location.pathname);
  document.getElementById("token").value = given;
  document.querySelector("form").requestSubmit();
}
