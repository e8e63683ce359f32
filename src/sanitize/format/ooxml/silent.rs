//! Attributes that say how things look, which of a list they are, or which thing is meant: nobody's words. Each is known by
//! its name and by the form of its value: what is called an identifier and is as long as a card is read like everything else.

use std::collections::HashSet;
use std::sync::LazyLock;

/// What an attribute may hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AttributeUse {
    /// What somebody wrote.
    Words,
    /// A number, a keyword or an identifier, which is a value only if it is known as one.
    Typed,
    /// Nothing that anybody looks for.
    Looks,
}

/// Words of a list.
fn listed(words: &'static str) -> HashSet<&'static str> {
    words.split_ascii_whitespace().collect()
}

/// Lists of numbers, drawings, references, namespaces and fonts.
static STRUCTURED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    listed(
        " Ignorable MustUnderstand PreserveAttributes PreserveElements ProcessContent Requires Target Type action activeCell adj \
    ascii colors connectangles connectlocs control1 control2 coordorigin coordsize cs csTypeId d eastAsia eqn face fillcolor \
    fmla focusposition focussize formulas from hAnsi inset keyTimes limo loTypeId matrix minVer mods namespace namespaceuri \
    offset offset2 path points position prLst prefixMappings presId ptsTypes qsTypeId ref schemaLocation spans spid sqref stroke \
    strokecolor style textboxrect tmFilter to typeface uniqueId uri values wrapcoords xpath xrange yrange ",
    )
});

/// Identifiers, sizes, colours, enumerations, revisions, hashes.
static TYPED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    listed(
        " DrawAspect ObjectID ObjectType ProgID SchemaID ShapeID accel accent1 accent2 accent3 accent4 accent5 accent6 activePane \
    additive algn align alignment altLang amt anchorId anchorx anchory ang appName arcsize arg asciiTheme ax axis ay az b bIns \
    backdepth baseType baseline before bg1 bg2 bidi blacklevel bld bldStep blend blurRad bottom bright brightness bw bwMode \
    bwmode bwnormal bwpure by cacheId calcId calcMode calcmode cap char charSpace characterSet class classid clear clrSpc cm \
    cmpd codeName colId color color2 conformance connectionId connectortype connecttype contourW contrast count cropbottom \
    cropleft cropright croptop csCatId csb0 csb1 cstate cstheme ct culture custLinFactNeighborX custLinFactNeighborY custScaleX \
    custScaleY cx cxnId cy dashstyle dataCellStyle date dateTime decel def defLockedState defQFormat defSemiHidden defTabSz \
    defUnhideWhenUsed defaultColWidth defaultPivotStyle defaultRowHeight defaultSlicerStyle defaultTableStyle \
    defaultThemeVersion defaultTimelineStyle delay destId dir displacedByCustomXml dist distB distL distR distT divId \
    dllVersion dm docId documentId drawAspect dt dur dxaOrig dxfId dy dyaOrig dz eastAsiaTheme edge editAs editId element embed \
    end endPos endarrow endcap errorStyle evt evtFilter ext extrusionH fact fadeDir field fill filterId firstLine \
    firstPageNumber fldCharType flip fmt fmtid folHlink followColorScheme followedHyperlink font fontAlgn fontKey fontScale \
    footer for forName foredepth form fov frame fromcolor fullDate func g gain gamma gap gapWidth grammar guid gutter h hAnchor \
    hAnsiTheme hR hRule hanging hash hashData hashValue header headerRowCellStyle hidden hint hlink horizontal horizontalDpi \
    horzAnchor horzBarState horzOverflow hralign ht hyperlink iconSet id idref idx imgH imgW in indent insetmode item itemID \
    joinstyle kx l lIns lang lastClr lastEdited lastGuid lastView lat layout layoutId leader left len length level lim line \
    lineRule linestyle link lnSpcReduction lo loCatId lon lowestEdited ltxbxId map marB marL marR marT masterRel max maxDate \
    maxOccurs maxR maxValue meth min minAng minDate minOccurs minR minSupportedVersion minValue miterlimit modelId moveWith \
    nextAc nillable nodeType objectId offsetFrom op opacity opacity2 operator orient orientation origin out override pageOrder \
    pane paraId paraIdParent parTransId parentId pathEditMode patternType percent persistence personId phase pitch \
    pivotCacheGuid pos preferRelativeResize presAssocID presName presStyleLbl presetClass presetSubtype pri progId prst \
    prstMaterial ptType qFormat qs qsCatId quartileMethod r r1 r2 rAngAx rIns rVer rad refFor refForName refPtType refType \
    refreshedDate relId relativeFrom relativeHeight relativeTo relid repeatCount repeatDur reservationPassword restart rev \
    revisionsHashValue revisionsPassword revisionsSaltValue rgb rig right rot rsidDel rsidP rsidR rsidRDefault rsidRPr rsidSect \
    rsidTr rupBuild s salt saltData saltValue scope script semiHidden serverZoom shadowcolor shapeId shapeid showComments \
    showDataAs showObjects si sibTransId side siteId size space spc spcCol spd spelling spidmax spinCount spokes srcId st stA \
    stAng start startAt state stlmId storeItemID strike strokeweight styleId styleLbl subtotal swAng sx sy symbol sz t t1 t2 \
    tIns tableType targetScreenSize targetscreensize tblpX tblpXSpec tblpY tblpYSpec textId themeColor themeFill themeFillShade \
    themeFillTint themeShade themeTint thresh tint tm tocolor top topLeftCell totalsRowCellStyle totalsRowFunction tplc \
    transition tx1 tx2 txbx type u uid uidLast uidLastSave uidp unhideWhenUsed usb0 usb1 usb2 usb3 vAnchor valueType vert \
    vertAnchor vertOverflow vertical verticalDpi vid view viewportSz vol w wAfter wR weight wgt width windowHeight windowWidth \
    workbookHashValue workbookPassword workbookSaltValue wrap wrapText x xAlign xWindow xfId xfr1 xfr2 xmlDataType y yAlign \
    yWindow z zOrderOff ",
    )
});

/// Elements whose `val` is such.
static VALUES: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    listed(
        " adj alpha animLvl animOne autoHyphenation axId b bar barDir basedOn baseTimeUnit bdr behavior between bottom brkBin \
    builtInUnit buSzPct calendar characterSpacingControl charset cnfStyle colId color constr creationId crossAx crossBetween \
    crosses dLblPos dataType defJc defaultImageDpi defaultTabStop dir dispBlanksAs dispDef divId docId docPart effect encoding \
    end errBarType errValType family fgColor formProt gallery gridSpan grouping grow guid h hMode hierBranch highlight hueMod \
    hueOff i id if insideH insideV intLim jc keepNext lang layoutTarget lblAlgn left legendPos lid ligatures link lumMod lumOff \
    lvlJc mainDocumentType majorTickMark mathFont mcJc minorTickMark modId multiLevelType naryLim next nsid numFmt numRestart \
    numStyleLink ofPieType orientation pStyle param parentLabelLayout pitch pos prstClr prstDash rStyle radarStyle \
    resizeHandles rgbColor right rowId rsid rsidRoot rtn rule satMod satOff savePreviewPicture scatterStyle scheme schemeClr \
    scr shade shape shd smallFrac spcPct srgbClr start storeMappedDataAs strVal style styleClr styleLink suff \
    suppressAutoHyphens symbol sysClr sz szCs tab tblOverlap tblStyle textAlignment textDirection themeFontLang tickLblPos tint \
    tl2br tmPct tmpl top tr2bl trHeight trendlineType type u uniqueId uniqueTag vAlign vMerge vertAlign view w wMode wch \
    widowControl x xMode y yMode zoom ",
    )
});

/// Elements whose `name` is one that programs give, and other parts refer to.
static NAMED: LazyLock<HashSet<&'static str>> = LazyLock::new(|| {
    listed(
        " cSld cellStyle choose clrScheme compatSetting else feature flag fmtScheme font fontScheme forEach futureMetadata gd if \
    key layoutNode lsdException metadataType ocxPr param pivotTableStyleInfo sndTgt styleLbl tableStyle tableStyleInfo theme \
    themeFamily ",
    )
});

/// Words of nobody, whatever holds them.
const KEYWORDS: &[&str] = &["true", "false", "on", "off", "none", "auto"];

/// What namespaces begin with.
const NAMESPACES: &[&str] = &["http://schemas.", "urn:", "http://purl.org/", "http://www.w3.org/"];

/// How many digits in a row no attribute has for a number, and a card or an account may have.
const LONG: usize = 13;

/// From how many letters and digits in a row on they may be a key.
const KEY: usize = 16;

/// How many hexadecimal digits an identifier has that is written without hyphens.
const GUID: usize = 32;

/// How many digits a keyword has at most: `accent1`, `overrideTableStyle2013`.
const COUNTED: usize = 4;

/// How many digits in groups are an account.
const GROUPED: usize = 9;

/// How many digits a number needs that may be known as a value: shorter ones mean something else by chance.
const KNOWN: usize = 8;

/// Whether a value is a namespace.
pub(super) fn is_namespace(value: &str) -> bool {
    let value = value.trim_start();
    NAMESPACES.iter().any(|start| value.starts_with(start))
}

/// What an attribute may hold, by what it and its element are called, and by its value.
pub(super) fn use_of(element: &str, attribute: &str, value: &str) -> AttributeUse {
    // Copies of shapes, and the measures of fonts: as long as a key, always.
    let opaque = matches!(attribute, "gfxdata" | "panose") || (element == "panose1" && attribute == "val");
    if opaque || KEYWORDS.contains(&value) || is_namespace(value) {
        return AttributeUse::Looks;
    }
    if STRUCTURED.contains(attribute) {
        return if may_hold(value) { AttributeUse::Words } else { AttributeUse::Looks };
    }
    let typed = match attribute {
        "val" => VALUES.contains(element),
        "name" => NAMED.contains(element),
        // Of text in a shape or a cell; that of a link is the name of a bookmark.
        "anchor" => element != "hyperlink",
        _ => TYPED.contains(attribute),
    };
    if typed && is_typed(value) { AttributeUse::Typed } else { AttributeUse::Words }
}

/// Whether a number or an identifier is long enough to be known as a value.
pub(super) fn may_be_known(value: &str) -> bool {
    value.bytes().filter(u8::is_ascii_digit).count() >= KNOWN
}

/// Whether a value is a number, a keyword or an identifier.
fn is_typed(value: &str) -> bool {
    let value = value.trim();
    let fraction = value.split_once('.').is_some_and(|(whole, _)| whole.len() < LONG);
    if fraction && value.parse::<f64>().is_ok() {
        return true;
    }
    let one = value.is_ascii() && !value.contains(|c: char| c.is_ascii_whitespace());
    one && !may_hold(value) && !is_grouped(value)
}

/// Whether a value is digits in groups, as many as an account has.
fn is_grouped(value: &str) -> bool {
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let groups = value.bytes().skip(1).any(|byte| byte == b'-');
    digits >= GROUPED && groups && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
}

/// Whether a piece of a value has the length of a card, an account or a key, or is a mail address.
fn may_hold(value: &str) -> bool {
    let mail = value
        .as_bytes()
        .windows(3)
        .any(|near| matches!(near, [a, b'@', b] if a.is_ascii_alphanumeric() && b.is_ascii_alphabetic()));
    let mut fraction = false;
    mail || value.split_inclusive(|c: char| !c.is_ascii_alphanumeric()).any(|piece| {
        let run = piece.trim_end_matches(|c: char| !c.is_ascii_alphanumeric());
        let digits = run.trim_end_matches(['e', 'E']).bytes().all(|byte| byte.is_ascii_digit());
        // A number may have many digits behind its point.
        let behind = std::mem::replace(&mut fraction, digits && piece.ends_with('.'));
        !(behind && digits) && is_long(run)
    })
}

/// Whether letters and digits in a row may be a card, an account or a key. A word with a number behind it is none
/// (`WordPictureWatermark80052084`).
fn is_long(run: &str) -> bool {
    let digits = run.bytes().filter(u8::is_ascii_digit).count();
    let word = run.trim_end_matches(|c: char| c.is_ascii_digit());
    let number = run.len().saturating_sub(word.len());
    let numbered = !word.is_empty() && number < LONG && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    let guid = run.len() == GUID && digits < GUID && run.bytes().all(|byte| byte.is_ascii_hexdigit());
    let spelled = digits <= COUNTED && run.bytes().any(|byte| byte.is_ascii_lowercase());
    !numbered && !guid && (digits >= LONG || (run.len() >= KEY && !spelled))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_forms_decide() {
        for (element, attribute, value, want) in [
            ("filter", "val", "4111111111111111", AttributeUse::Words),
            ("filter", "val", "078051120", AttributeUse::Words),
            ("listItem", "value", "x1", AttributeUse::Words),
            ("unheard", "of", "Jane", AttributeUse::Words),
            ("protectedRange", "name", "4111111111111111", AttributeUse::Words),
            ("hyperlink", "anchor", "Jane", AttributeUse::Words),
            ("p", "rsidR", "00411111", AttributeUse::Typed),
            ("ext", "cx", "27273042316", AttributeUse::Typed),
            ("docPr", "id", "1073741826", AttributeUse::Typed),
            ("style", "styleId", "DefaultPlaceholder226101675", AttributeUse::Typed),
            ("style", "styleId", "5DFDB578AB7643C696D524C61D7C23EF", AttributeUse::Typed),
            ("sp", "id", "{00000000-D7DA-4C9B-A5FB-5C4FAC2D0001}", AttributeUse::Typed),
            ("del", "date", "2008-01-08T11:41:00Z", AttributeUse::Typed),
            ("pageMargins", "left", "0.70000000000000018", AttributeUse::Typed),
            ("color", "tint", "-4.9989318521683403E-2", AttributeUse::Typed),
            ("schemeClr", "val", "accent1", AttributeUse::Typed),
            ("pStyle", "val", "overrideTableStyleFontSize2013", AttributeUse::Typed),
            ("shape", "path", "m@0,l0@0,,21600@1,21600,21600@2,21600,xe", AttributeUse::Looks),
            ("animMotion", "path", "M -3.33333E-6 4.07407407407407E-6 L 0.25 -0.00139", AttributeUse::Looks),
            ("rFonts", "ascii", "Times New Roman", AttributeUse::Looks),
            ("ext", "uri", "{837473B0-CC2E-450A-ABE3-18F120FF3D39}", AttributeUse::Looks),
            ("latin", "panose", "02020603050405020304", AttributeUse::Looks),
            ("lsdException", "qFormat", "on", AttributeUse::Looks),
            ("attachedSchema", "val", "urn:schemas:contacts", AttributeUse::Looks),
        ] {
            assert_eq!(use_of(element, attribute, value), want, "{element} {attribute} {value}");
        }
    }

    #[test]
    fn values_under_the_name_of_something_else_are_read() {
        for (element, attribute, value) in [
            ("p", "rsidR", "4111111111111111"),
            ("docPr", "id", "078-05-1120"),
            ("docPr", "id", "a@b.example"),
            ("docPr", "id", "Jane Roe"),
            ("docPr", "id", "DE89370400440532013000"),
            ("pStyle", "val", "AKIAIOSFODNN7EXAMPLE"),
            ("ext", "cx", "4111111111111111.0"),
            ("dataBinding", "xpath", "/a[.='jane@b.example']"),
            ("shape", "path", "m4111111111111111,2"),
            ("lsdException", "name", "Zoë"),
        ] {
            assert_eq!(
                use_of(element, attribute, value),
                AttributeUse::Words,
                "{element} {attribute} {value}"
            );
        }
        assert!(may_be_known("12345678") && !may_be_known("x1234567"));
    }
}
