"""Pages that try to run something, and what an independent parser finds in a page that could."""

import re

import html5lib

RUN = "alert(1)"
JS = "javascript:" + RUN

# What is written into an attribute that leads somewhere.
ADDRESSES = [
    JS,
    "JaVaScRiPt:" + RUN,
    " \t\n" + JS,
    "\x01" + JS,
    "java\tscript:" + RUN,
    "java\nscript:" + RUN,
    "java&#10;script:" + RUN,
    "java&Tab;script&colon;" + RUN,
    "&#106;avascript:" + RUN,
    "&#x6a;&#x61;vascript:" + RUN,
    "&#0000106&#0000097&#0000118&#0000097script:" + RUN,
    "javascript&#58;" + RUN,
    "javascript&#x3A;" + RUN,
    "&NewLine;" + JS,
    "&#1;" + JS,
    "vbscript:msgbox(1)",
    "data:text/html,<script>alert(1)</script>",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
    "data:image/svg+xml,<svg onload=alert(1)>",
    "data:application/xhtml+xml,<script/>",
    "livescript:x",
    "mocha:x",
    "jar:http://a.example!/x",
    "view-source:javascript:x",
    "feed:" + JS,
    "blob:x",
    "filesystem:x",
    "file:///etc/passwd",
    "\\\\host\\share",
    "ms-msdt:/id x",
    "search-ms:query=x",
    "java\u200bscript:" + RUN,
    "javascript\u00a0:" + RUN,
]

# `%s` is the address, quoted.
PLACES = [
    "<a href=%s>x</a>",
    "<area href=%s>",
    "<img src=%s>",
    "<svg><a xlink:href=%s><text>x</text></a></svg>",
]

PAGES = """
<script>alert(1)</script>
<SCRIPT SRC=http://a.example/x.js></SCRIPT>
<script/src=data:,alert(1)>
<scr<script>ipt>alert(1)</scr</script>ipt>
<script\x0csrc=x></script>
<script
>alert(1)</script
>
<<script>alert(1)//<</script>
<script>alert(1)
</script x><script>alert(1)</script>
<svg><script>alert(1)</script></svg>
<svg><script>alert&lpar;1&rpar;</script></svg>
<svg><script/href=data:,alert(1) />
<svg><script xlink:href=data:,alert(1)></script></svg>
<math><script>alert(1)</script></math>
<img src=x onerror=alert(1)>
<img src=x onerror=alert(1)//
<img src=x:x onerror=alert(1)
<IMG SRC=x OnErRoR=alert(1)>
<img/src/onerror=alert(1)>
<img\x0bsrc=x\x0conerror=alert(1)>
<img src="x"onerror="alert(1)">
<img src='x' 'onerror=alert(1)'>
<img src=`x`onerror=alert(1)>
<img src=x onerror\x00=alert(1)>
<img src=x onerror =alert(1)>
<img """ + '"""' + """><script>alert(1)</script>">
<img alt="<x" title="/><img src=x onerror=alert(1)>">
<img alt="`><img src=x onerror=alert(1)>">
<body onload=alert(1)>
<body/onpageshow=alert(1)>
<svg onload=alert(1)>
<svg/onload=alert(1)//
<svg><g onload=alert(1)></g></svg>
<details open ontoggle=alert(1)>x</details>
<video><source onerror=alert(1)></video>
<video src=x onloadstart=alert(1)></video>
<audio src onerror=alert(1)>
<input autofocus onfocus=alert(1)>
<select autofocus onfocus=alert(1)><option>x</select>
<textarea autofocus onfocus=alert(1)></textarea>
<keygen autofocus onfocus=alert(1)>
<marquee onstart=alert(1)>x</marquee>
<div onpointerenter=alert(1)>x</div>
<div style="animation-name:x" onanimationstart=alert(1)>x</div>
<p contenteditable onbeforeinput=alert(1)>x</p>
<x onclick=alert(1)>x</x>
<x-y is=z onclick=alert(1)>x</x-y>
<iframe src=javascript:alert(1)></iframe>
<iframe srcdoc="<script>alert(1)</script>"></iframe>
<iframe srcdoc=&lt;script&gt;alert(1)&lt;/script&gt;>
<iframe/onload=alert(1)>
<iframe><img src=x onerror=alert(1)></iframe>
<frameset onload=alert(1)><frame src=javascript:alert(1)></frameset>
<object data=javascript:alert(1)></object>
<object data="data:text/html,<script>alert(1)</script>"></object>
<object classid=clsid:x><param name=src value=javascript:alert(1)></object>
<embed src=javascript:alert(1)>
<embed src="data:image/svg+xml;base64,PHN2Zy8+">
<applet code=x archive=http://a.example/x.jar></applet>
<portal src=javascript:alert(1)></portal>
<fencedframe src=x></fencedframe>
<base href=javascript:alert(1)//><a href=x>x</a>
<base target=x href=//a.example>
<meta http-equiv=refresh content="0;url=javascript:alert(1)">
<meta http-equiv="refresh" content="0;url=data:text/html,<script>alert(1)</script>">
<meta http-equiv=Set-Cookie content="a=b">
<META HTTP-EQUIV="&#114;efresh" content="0;url=javascript:alert(1)">
<link rel=stylesheet href=javascript:alert(1)>
<link rel=import href=http://a.example>
<link rel=prefetch href=//a.example>
<form action=javascript:alert(1)><input type=submit></form>
<form><button formaction=javascript:alert(1)>x</button></form>
<form id=x></form><button form=x formaction=javascript:alert(1)>x</button>
<form><input type=image formaction=javascript:alert(1)></form>
<isindex action=javascript:alert(1) type=submit>
<a ping=http://a.example href=x>x</a>
<a href=x target="<script>alert(1)</script>">x</a>
<div style="background:url(javascript:alert(1))">x</div>
<div style="width:expression(alert(1))">x</div>
<div style="width:exp\\72 ession(alert(1))">x</div>
<div style="width:exp/**/ression(alert(1))">x</div>
<div style="behavior:url(x.htc)">x</div>
<div style="-moz-binding:url(x.xml#x)">x</div>
<div style="background:\\75rl('javascript:alert(1)')">x</div>
<div style="background:url(&#1;javascript:alert(1))">x</div>
<style>@import 'javascript:alert(1)';</style>
<style>@im\\port'http://a.example/x.css';</style>
<style>body{background:url("javascript:alert(1)")}</style>
<style>*{-moz-binding:url(data:text/xml,x)}</style>
<style><!--</style><script>alert(1)//--></script>
<style><img src="</style><img src=x onerror=alert(1)>">
<style>a{content:"</style><script>alert(1)</script>"}</style>
<svg><style><img src=x onerror=alert(1)></style></svg>
<svg><style>&lt;/style&gt;&lt;img src=x onerror=alert(1)&gt;</style></svg>
<svg><style><script>alert(1)</script></style></svg>
<math><style><img src=x onerror=alert(1)></style></math>
<math><mtext><table><mglyph><style><img src=x onerror=alert(1)></style></mglyph></table></mtext></math>
<math><mtext><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=alert(1)&gt;">
<form><math><mtext></form><form><mglyph><style></math><img src onerror=alert(1)>
<math><annotation-xml encoding="text/html"><script>alert(1)</script></annotation-xml></math>
<math href=javascript:alert(1)>x</math>
<math><maction actiontype=statusline xlink:href=javascript:alert(1)>x</maction></math>
<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">
<svg><p><style><a title="</style><img src=x onerror=alert(1)>"></style></p></svg>
<svg><title><style><img src=x onerror=alert(1)></style></title></svg>
<svg><desc><script>alert(1)</script></desc></svg>
<svg><foreignObject><script>alert(1)</script></foreignObject></svg>
<svg><foreignObject><iframe src=javascript:alert(1)></iframe></foreignObject></svg>
<svg><animate attributeName=href values=javascript:alert(1)></svg>
<svg><a><animate attributeName=href to=javascript:alert(1) begin=0s></animate><text>x</text></a></svg>
<svg><set attributeName=onmouseover to=alert(1)></svg>
<svg><animate onbegin=alert(1) attributeName=x dur=1s></svg>
<svg><animateTransform onend=alert(1)></svg>
<svg><use href="data:image/svg+xml,<svg id='x' xmlns='http://www.w3.org/2000/svg'><image href='1' onerror='alert(1)'/></svg>#x"></svg>
<svg><use xlink:href=http://a.example/x.svg#x></svg>
<svg><image href=x onerror=alert(1)></svg>
<svg><image xlink:href=javascript:alert(1)></svg>
<svg><handler type=text/javascript>alert(1)</handler></svg>
<svg><discard onbegin=alert(1)></svg>
<svg><![CDATA[><img src=x onerror=alert(1)>]]></svg>
<svg><![CDATA[]]><script>alert(1)</script>
<![CDATA[<script>alert(1)</script>]]>
<svg><x:script xmlns:x="http://www.w3.org/2000/svg">alert(1)</x:script></svg>
<svg xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load" onload="alert(1)"/>
<!--[if IE]><script>alert(1)</script><![endif]-->
<!--><img src=x onerror=alert(1)>-->
<!--> --><img src=x onerror=alert(1)>
<!-- --!><img src=x onerror=alert(1)> -->
<!-- <!-- --><script>alert(1)</script> -->
<!doctype html [<!ENTITY x "<script>alert(1)</script>">]><p>&x;
<!DOCTYPE x [<!ATTLIST img onerror CDATA "alert(1)">]><img src=x>
<?xml version="1.0"?><script>alert(1)</script>
<?php echo 1 ?><img src=x onerror=alert(1)>
<?import namespace="t" implementation="#default#time2">
<%<script>alert(1)</script>%>
<!</textarea><script>alert(1)</script>
</<img src=x onerror=alert(1)>>
</p onclick=alert(1)>
</br/onclick=alert(1)>
<title><img src=x onerror=alert(1)></title>
<title></title/</title><script>alert(1)</script>
<title>&lt;/title&gt;&lt;script&gt;alert(1)&lt;/script&gt;</title>
<textarea></textarea><script>alert(1)</script></textarea>
<textarea><img title="</textarea><img src=x onerror=alert(1)>"></textarea>
<noscript><p title="</noscript><img src=x onerror=alert(1)>"></noscript>
<noscript><style></noscript><img src=x onerror=alert(1)></style>
<noembed><img title="</noembed><img src=x onerror=alert(1)>"></noembed>
<noframes><style></noframes><img src=x onerror=alert(1)></style></noframes>
<xmp><p title="</xmp><svg/onload=alert(1)>"></xmp>
<plaintext><img src=x onerror=alert(1)>
<template><script>alert(1)</script></template>
<template shadowrootmode=open><img src=x onerror=alert(1)></template>
<template><style></template><img src=x onerror=alert(1)></style>
<select><style></select><img src=x onerror=alert(1)></style>
<select><iframe></select><img src=x onerror=alert(1)></iframe>
<select><template><style></select><img src=x onerror=alert(1)>
<table><style></table><img src=x onerror=alert(1)></style>
<table><td><script>alert(1)</script>
<table background=javascript:alert(1)><td background=vbscript:x>
<p><svg><b><style><img src="</style><img src=x onerror=alert(1)>">
<b><svg><mglyph><svg><mtext><style><path id="</style><img onerror=alert(1) src>">
<option><style></option></select><b><img src=x onerror=alert(1)></style></option>
<a id=x name=y><b id=attributes>
<img name=getElementById><form id=x><input name=attributes></form>
<div data-x='"><script>alert(1)</script>'>x</div>
<div title="&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;">x</div>
<div title='"><img src=x onerror=alert(1)>'>x</div>
&lt;script&gt;alert(1)&lt;/script&gt;
<\x00script>alert(1)</\x00script>
<scr\x00ipt>alert(1)</scr\x00ipt>
<\x1bscript>alert(1)</script>
\x1b(J<script>alert(1)</script>
<\u0455cript>alert(1)</\u0455cript>
\u00bcscript\u00bealert(1)\u00bc/script\u00be
+ADw-script+AD4-alert(1)+ADw-/script+AD4-
<meta charset=utf-7>+ADw-script+AD4-alert(1)+ADw-/script+AD4-
<meta charset=iso-2022-jp><p title="\x1b(J\x22><script>alert(1)</script>">
<xml id=x><a><b>&lt;script&gt;alert(1)&lt;/script&gt;</b></a></xml><div datasrc=#x datafld=b dataformatas=html></div>
<xss style="xss:expression(alert(1))">
<bgsound src=javascript:alert(1)>
<layer src=http://a.example/x.js></layer>
<img dynsrc=javascript:alert(1) lowsrc=vbscript:x>
<img srcset="javascript:alert(1) 1x, data:text/html,x 2x">
<img src=x usemap=#x><map name=x><area href=javascript:alert(1)></map>
<image src=x onerror=alert(1)>
<video poster=javascript:alert(1)></video>
<blockquote cite=javascript:alert(1)>x</blockquote>
<q cite="data:text/html,x">x</q>
<body background=javascript:alert(1)>
<html manifest=http://a.example/x>
<dialog open onclose=alert(1)><form method=dialog><button>x</button></form></dialog>
<button popovertarget=x>x</button><div popover id=x onbeforetoggle=alert(1)>x</div>
<a href="http://a.example" onclick=alert(1)>x</a><a href=http://a.example/&quot;onmouseover=&quot;alert(1)>y</a>
<p/onclick=alert(1)/>x
<p =onclick=alert(1)>x
<p "onclick=alert(1)>x
<p ' onclick=alert(1)>x
<p / / onclick=alert(1)>x
<p\u00a0onclick=alert(1)>x
<0 onclick=alert(1)>x
< script>alert(1)</script>
<
""".strip("\n")


def quoted(address):
    return '"%s"' % address.replace('"', "&quot;")


def pages():
    """All of them, as bytes."""
    lines = [line for line in PAGES.split("\n") if line]
    lines += [place % quoted(address) for address in ADDRESSES for place in PLACES]
    # Each alone, and within what may change how it is read.
    around = ["%s", "<div>%s</div>", "<svg>%s</svg>", "<title>%s", "<table><tr>%s"]
    for n, line in enumerate(lines):
        yield (around[0] % line).encode()
        yield (around[1 + n % 4] % line).encode()


FORBIDDEN = set(
    "script iframe frame frameset object embed applet base portal fencedframe foreignobject template noscript noembed "
    "noframes set animate animatemotion animatetransform discard handler listener form input button select textarea "
    "keygen isindex link math xml marquee bgsound layer param plaintext xmp dialog maction mglyph annotation-xml".split()
)
LEADING = ["href", "src", "action", "formaction", "data", "poster", "background", "cite", "ping", "longdesc", "dynsrc"]
SCHEMES = {"http", "https", "ftp", "mailto", "tel", "hxxp", "hxxps", "fxp", "cid"}
ACTING = re.compile(r"(?i)expression\s*\(|javascript:|vbscript:|behavior\s*:|-moz-binding|@import")


def css_findings(css):
    read = re.sub(r"\\([0-9a-fA-F]{1,6})\s?", lambda m: chr(int(m.group(1), 16) % 0x110000), css)
    read = re.sub(r"\\(.)", r"\1", read)
    if ACTING.search(read):
        yield "css " + css


def attribute_findings(name, value):
    local = re.split(r"[}:]", name)[-1].lower()
    if local.startswith("on") or local in ("srcdoc", "formaction", "action", "ping", "http-equiv", "manifest"):
        yield "attribute %s=%s" % (name, value)
    if local in LEADING:
        read = "".join(c for c in value if c > " " and c.isprintable()).lower()
        scheme = re.match(r"([^/?#\\]*?):", read)
        image = re.match(r"data:image/(png|jpeg|gif|webp|bmp);base64,[a-z0-9+/=]*$", read)
        if scheme and scheme.group(1) not in SCHEMES and not image and "[" not in scheme.group(1):
            yield "address %s=%s" % (name, value)
    if local == "style":
        yield from css_findings(value)


def tree_findings(tree):
    for element in tree.iter():
        if not isinstance(element.tag, str):
            yield "comment or instruction"
            continue
        tag = element.tag.rsplit("}", 1)[-1].lower()
        if tag in FORBIDDEN:
            yield "element " + tag
        if tag == "style":
            yield from css_findings("".join(element.itertext()))
        for name, value in element.attrib.items():
            yield from attribute_findings(name, value)
        if tag == "meta" and any(name.lower() == "http-equiv" for name in element.attrib):
            yield "meta"


def findings(page):
    """What in a page (as text) could run, read as a document and in pieces, and read again once written."""
    found = []
    for scripting in (False, True):
        def parsed(text):
            return html5lib.parse(text, treebuilder="etree", scripting=scripting)

        tree = parsed(page)
        found += tree_findings(tree)
        for context in ("div", "svg", "td", "title"):
            parts = html5lib.parseFragment(page, container=context, treebuilder="etree", scripting=scripting)
            found += tree_findings(parts)
        again = html5lib.serialize(tree, tree="etree", quote_attr_values="always", omit_optional_tags=False)
        found += tree_findings(parsed(again))
    return sorted(set(found))
