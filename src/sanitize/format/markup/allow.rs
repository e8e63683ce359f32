//! What of HTML and SVG may stay. Everything else goes: an element's tags, with its content staying, or an
//! attribute. That is the safer way: what browsers learn tomorrow is not on a list of today.

use std::collections::HashSet;
use std::sync::LazyLock;

use crate::sanitize::format::markup::uri::AfterAddress;

/// Elements of HTML that show something and do nothing, and of SVG that draw.
static ELEMENTS: WordSet = LazyLock::new(|| {
    words(
        " html head title body article section nav aside h1 h2 h3 h4 h5 h6 hgroup header footer address main p \
    hr pre blockquote ol ul menu li dl dt dd figure figcaption div a em strong small s cite q dfn abbr acronym ruby rb \
    rt rtc rp data time code var samp kbd sub sup i b u mark bdi bdo span br wbr ins del picture source img audio \
    video track map area table caption colgroup col tbody thead tfoot tr td th details summary big center dir font \
    strike tt nobr style meta progress meter label fieldset legend output listing \
    svg g path rect circle ellipse line polyline polygon text tspan textpath defs lineargradient radialgradient stop \
    clippath mask pattern symbol use image marker desc view filter feblend fecolormatrix fecomponenttransfer \
    fecomposite feconvolvematrix fediffuselighting fedisplacementmap fedistantlight fedropshadow feflood fefunca \
    fefuncb fefuncg fefuncr fegaussianblur femerge femergenode femorphology feoffset fepointlight \
    fespecularlighting fespotlight fetile feturbulence switch ",
    )
});

/// Elements that act, fetch or ask: taking one out is counted.
static ACTING: WordSet = LazyLock::new(|| {
    words(
        " script iframe frame frameset object embed applet base portal foreignobject template noscript noembed \
    noframes set animate animatemotion animatetransform animatecolor discard handler listener form input button select \
    textarea keygen isindex link math fencedframe bgsound xml marquee param dialog ",
    )
});

/// Of these the content goes as well: it is code, or shown by nobody.
static HOLLOW: WordSet =
    LazyLock::new(|| words(" script iframe noembed noframes noscript template xml handler listener "));

/// Elements within which text runs on.
static INLINE: WordSet = LazyLock::new(|| {
    words(
        " a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp small \
    span strike strong sub sup tt u var wbr tspan time ",
    )
});

/// Elements whose text does not go on in the next: what they hold is looked at one by one.
static APART: WordSet = LazyLock::new(|| {
    words(
        " head title body table caption colgroup col tbody thead tfoot tr td th li option legend summary style meta \
    svg defs desc img audio video map meter progress rt rp rtc ",
    )
});

/// Attributes of any element.
static ATTRIBUTES: WordSet = LazyLock::new(|| {
    words(
        " abbr align alt axis bgcolor border cellpadding cellspacing char charoff charset class clear color \
    cols colspan compact controls coords datetime decoding dir face frame headers height hreflang \
    hspace id ismap itemid itemprop itemscope itemtype kind label lang link alink vlink loading loop low high max min \
    muted name noshade nowrap open optimum pubdate rel rev reversed role rows rowspan rules scope \
    shape size sizes span srclang start summary tabindex target text title translate type usemap \
    valign value vspace width wrap xml:lang xml:space media content property \
    accent-height alignment-baseline amplitude azimuth basefrequency baseline-shift bias clip clip-path clip-rule \
    clippathunits color-interpolation color-interpolation-filters cx cy d diffuseconstant direction display divisor \
    dominant-baseline dx dy edgemode elevation exponent fill fill-opacity fill-rule filter filterunits flood-color \
    flood-opacity font-family font-size font-size-adjust font-stretch font-style font-variant font-weight fx fy \
    gradienttransform gradientunits in in2 intercept k1 k2 k3 k4 kernelmatrix kernelunitlength lengthadjust \
    letter-spacing lighting-color limitingconeangle marker-end marker-mid marker-start markerheight markerunits \
    markerwidth mask maskcontentunits maskunits mode numoctaves offset opacity operator order orient orientation \
    overflow paint-order pathlength patterncontentunits patterntransform patternunits pointer-events points \
    pointsatx pointsaty pointsatz preservealpha preserveaspectratio primitiveunits r radius refx refy result rotate \
    rx ry scale seed shape-rendering slope specularconstant specularexponent spreadmethod startoffset stddeviation \
    stitchtiles stop-color stop-opacity stroke stroke-dasharray stroke-dashoffset stroke-linecap stroke-linejoin \
    stroke-miterlimit stroke-opacity stroke-width surfacescale tablevalues targetx targety text-anchor \
    text-decoration text-rendering textlength transform transform-origin vector-effect version viewbox visibility \
    word-spacing writing-mode x x1 x2 xchannelselector y y1 y2 ychannelselector z ",
    )
});

/// Attributes that fetch or run: taking one out is counted. So is any that begins with `on`.
static RUNNING: WordSet = LazyLock::new(|| {
    words(
        " srcdoc action formaction ping xlink:actuate data codebase classid code archive manifest dynsrc \
    lowsrc handler attributename ",
    )
});

/// Elements without content or end tag.
static VOID: WordSet = LazyLock::new(|| {
    words(
        " area br col hr img meta source track wbr base embed input link param keygen frame bgsound isindex ",
    )
});

/// What becomes of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::sanitize::format) enum AttributeRule {
    /// Its value is text.
    Text,
    /// It says where a link leads, or what to load.
    Address(AfterAddress),
    /// The same, several.
    Addresses,
    /// Declarations of CSS, or the value of one.
    Css,
    /// It goes; whether that is counted.
    Removed(bool),
}

type WordSet = LazyLock<HashSet<&'static str>>;

fn words(list: &'static str) -> HashSet<&'static str> {
    list.split_ascii_whitespace().collect()
}

/// Whether an element (in lower case) may stay.
pub(in crate::sanitize::format) fn element(name: &str) -> bool {
    ELEMENTS.contains(name)
}

/// Whether taking an element out is counted.
pub(in crate::sanitize::format) fn is_acting(name: &str) -> bool {
    ACTING.contains(name)
}

/// Whether an element's content goes with it.
pub(in crate::sanitize::format) fn is_hollow(name: &str) -> bool {
    HOLLOW.contains(name)
}

/// Whether text runs on through an element: it is inline, or will not be there.
pub(in crate::sanitize::format) fn is_inline(name: &str) -> bool {
    INLINE.contains(name) || !element(name)
}

/// Whether an element's text is read by itself: a cell, an item, a title.
pub(in crate::sanitize::format) fn is_apart(name: &str) -> bool {
    APART.contains(name)
}

/// Whether an element has no end tag.
pub(in crate::sanitize::format) fn is_void(name: &str) -> bool {
    VOID.contains(name)
}

/// What becomes of an attribute (both names in lower case).
pub(in crate::sanitize::format) fn attribute(element: &str, name: &str) -> AttributeRule {
    match name {
        "style" => AttributeRule::Css,
        "href" | "xlink:href" => match element {
            "use" | "textpath" | "mpath" | "lineargradient" | "radialgradient" | "pattern" | "filter" => {
                AttributeRule::Address(AfterAddress::Within)
            }
            "image" | "feimage" => AttributeRule::Address(AfterAddress::Load),
            "a" | "area" => AttributeRule::Address(AfterAddress::Link),
            _ => AttributeRule::Removed(true),
        },
        "src" | "poster" | "background" => AttributeRule::Address(AfterAddress::Load),
        "cite" | "longdesc" => AttributeRule::Address(AfterAddress::Link),
        "srcset" => AttributeRule::Addresses,
        "fill" | "stroke" | "filter" | "mask" | "clip-path" | "marker-start" | "marker-mid"
        | "marker-end" | "clip" => AttributeRule::Css,
        // What a program that nobody put there would read.
        _ if name == "xmlns" || name.starts_with("xmlns:") => AttributeRule::Text,
        _ if ATTRIBUTES.contains(name) || is_spoken(name) => AttributeRule::Text,
        _ => AttributeRule::Removed(
            name.starts_with("on") || name.ends_with(":href") || RUNNING.contains(name),
        ),
    }
}

fn is_spoken(name: &str) -> bool {
    let rest = name.strip_prefix("aria-").or_else(|| name.strip_prefix("data-"));
    rest.is_some_and(|rest| {
        !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.".contains(&b))
    })
}

/// Whether a namespace is one that an `xmlns` may declare in HTML and SVG.
pub(in crate::sanitize::format) fn is_namespace(value: &str) -> bool {
    ["http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"]
        .contains(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_allowed_that_acts() {
        for name in ACTING.iter().copied().chain(["unknown", "x-custom", ""]) {
            assert!(!element(name), "{name}");
        }
        for name in RUNNING.iter().copied().chain(["onclick", "onx", "is", "slot", "nonce"]) {
            assert!(matches!(attribute("a", name), AttributeRule::Removed(_)), "{name}");
        }
        assert_eq!(attribute("a", "onclick"), AttributeRule::Removed(true));
        assert_eq!(attribute("p", "href"), AttributeRule::Removed(true));
        assert_eq!(attribute("use", "href"), AttributeRule::Address(AfterAddress::Within));
        assert!(is_spoken("aria-label") && !is_spoken("data-") && !is_spoken("aria-\"x"));
    }
}
