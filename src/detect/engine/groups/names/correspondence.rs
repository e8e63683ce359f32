//! Words of letters and mail: how they begin and end, by what people are addressed in them, and who writes them, or is
//! written to, that is nobody.

/// Begin a letter, before whom it is for.
pub(super) const GREETINGS: &[&str] = &[
    "dear", "hi", "hello", "hey", "liebe", "lieber", "hallo", "geehrte", "geehrter", "cher", "chère",
    "bonjour", "hola", "estimado", "estimada", "querido", "querida", "caro", "cara", "gentile", "ciao",
    "olá", "prezado", "prezada", "beste", "geachte", "hej", "kära", "kære", "kjære", "drogi", "droga",
];

/// End the line below which a letter is signed.
pub(super) const SIGN_OFFS: &[&str] = &[
    "regards",
    "sincerely",
    "faithfully",
    "truly",
    "respectfully",
    "cordially",
    "warmly",
    "wishes",
    "cheers",
    "gruß",
    "grüße",
    "grüßen",
    "gruss",
    "grüsse",
    "grüssen",
    "cordialement",
    "salutations",
    "amicalement",
    "saludos",
    "atentamente",
    "cordialmente",
    "saluti",
    "atenciosamente",
    "cumprimentos",
    "groet",
    "groeten",
    "pozdrawiam",
    "poważaniem",
    "hälsningar",
    "hilsen",
];

/// The same, where a comma follows and little stands before.
pub(super) const SHORT_SIGN_OFFS: &[&str] = &["best", "thanks", "thx", "yours", "love", "danke", "merci"];

/// Words with which friends greet each other and take leave, that are no surnames.
pub(super) const FAMILIAR: &[&str] =
    &["servus", "tschüss", "hallo", "hej", "hey", "bises", "abrazos", "besos", "salut", "cześć"];

/// Last words of labels behind which somebody stands who signs, writes or takes part.
pub(super) const SIGNERS: &[&str] = &[
    "signed",
    "signatory",
    "author",
    "reviewer",
    "approver",
    "submitter",
    "sender",
    "assignee",
    "attendee",
    "organizer",
    "organiser",
    "patient",
    "employee",
];

/// Titles that are said before a surname alone. Others are words, too: `Sister Act`, `Coach House`, `Sr Cook`.
pub(super) const HONORIFICS: &[&str] = &[
    "mr",
    "mrs",
    "ms",
    "mx",
    "miss",
    "dr",
    "prof",
    "professor",
    "herr",
    "herrn",
    "frau",
    "señor",
    "señora",
    "señorita",
    "sra",
    "srta",
    "monsieur",
    "madame",
    "mme",
    "mlle",
    "mademoiselle",
    "signor",
    "signora",
    "signorina",
    "dott",
    "dottor",
    "dottoressa",
    "senhor",
    "senhora",
    "dra",
    "mevrouw",
    "mevr",
    "meneer",
    "dhr",
];

/// Surnames that begin the next sentence where the one before ends in a title: `I saw the Dr. Call me`.
pub(super) const SENTENCE_WORDS: &[&str] = &[
    "able", "among", "an", "ask", "asks", "call", "can", "check", "do", "each", "even", "ever", "given",
    "he", "her", "in", "just", "let", "look", "many", "more", "must", "near", "no", "per", "rather", "said",
    "say", "see", "sell", "send", "so", "soon", "stop", "take", "tell", "than", "to", "too", "us", "very",
    "wait", "well", "were", "you",
];

/// Who letters are for that is nobody.
pub(super) const GREETED: &[&str] = &[
    "alumni",
    "amazon",
    "apache",
    "applicant",
    "author",
    "chatgpt",
    "claude",
    "colleague",
    "copilot",
    "customer",
    "debian",
    "diary",
    "editor",
    "everybody",
    "everyone",
    "facebook",
    "gemini",
    "github",
    "gitlab",
    "god",
    "google",
    "journal",
    "landlord",
    "lazyweb",
    "madam",
    "microsoft",
    "neighbor",
    "neighbour",
    "netflix",
    "openai",
    "recruiter",
    "reviewer",
    "sqlite",
    "taxpayer",
    "typescript",
    "universe",
    "valued",
];

/// Parts of what the mailboxes of an office, a list or a program are called (RFC 2142, and what is usual), between spaces.
pub(super) const OFFICES: &str = "abuse accounting accounts admin administration admins alert alerts announce atencion \
    billing bot bounce bounces buero bugs build builds careers ci community contact contacto contactus core \
    customercare customerservice daemon dev devel developer developers devs digest discuss donotreply enquiries \
    events facturacion feedback finance firma fundraising hello help helpdesk hostmaster hr info infos inquiries \
    invoice invoices jobs kontakt kundenservice list lists mailer mailing maint maintainer maintainers marketing \
    media members membership news newsletter noc noreply notification notifications notify office operations ops \
    orders packages packaging postmaster poststelle press presse project redaktion registrar reply reports \
    reservations sales security sekretariat service services shop soporte spam staff store subscriptions support \
    systems team teams techsupport tickets undisclosed unsubscribe updates usenet users vertrieb verwaltung \
    webmaster welcome www";

/// Words of what many, or a program, write as, and of what they work at, which are of nobody's name, between spaces.
pub(super) const COLLECTIVES: &str = "academy accounts administration administrator admins alerts alliance alumni amt \
    apotheke app archive army assembly authority authors automation bahn bibliothek billing board bot building \
    bundesamt bureau campaign catering centre chapter charity coalition college commission committee commons \
    community concierge conference consortium consulting contributors cooperative council crew daemon deals \
    delivery department desk deutsche deutscher devs diary digest directorate division donor embassy engine \
    engineering ensemble equipo exchange express faculty family federation festival fellowship finanzamt fleet \
    foods forum forums foundation friends fund gallery gateway gemeinde gentoo government group groupe groups \
    grupo guild healthcare helpdesk herald hochschule holidays hospital hosting hotel hotels household incubator \
    initiative innovation institut institute invoicing kanzlei kernel klinik kundenservice lab laboratories \
    laboratory labs landratsamt leadership league library list lists logistics mailer maintainer maintainers \
    maintenance manager marketing marketplace media ministry mission monitor monitoring museum network networks \
    news newsletter newsroom notifier office online operations orchestra orders organisation organization \
    packagers parish payments payroll pharmacy platform police portal postmaster procurement production \
    productions program project promotions purchasing radio rathaus reception recruiting recruitment redaktion \
    registrar relations reports rescue research resident residents restaurant retail review rewards robot root \
    sales school schule secretariat secretary security sekretariat seminar server service services servicio \
    servizio shipping shop society software solutions sparkasse staff startup station statistics store student \
    students studio studios subscription subscriptions subsystem success suite support surveys system systems \
    talent task taskforce team technik technologies technology testing ticketing tickets tourism tours training \
    translators transport treasurer treasury trust union universidad università universität université university \
    updates users verband verein verlag versicherung vertrieb verwaltung volksbank warehouse web webmaster weekly \
    wiki working workshop world zeitung";
