//! Names that are names in small letters too: `rebecca`, which no language has as a word.

use crate::detect::is_common_word;
use crate::redact::dictionary::Dictionary;

/// The shortest of them, in characters.
const SHORTEST: usize = 4;

/// Names of the dictionaries that are ordinary words of a language in small letters, beside the common words of the lexicon. Common knowledge, written
/// for this list.
const ORDINARY: &str = "\
    alba allegra amato amber amparo angel aurora baker bakker barros beate berge bergen bianca bianchi bianco \
    billings blanc blanca boer boise bonnet bonnie booth boulder bourgeois braun bravo brooks brouwer brun \
    bruna bruni bruno burgess burns butler butt caballero calvo campos cano canton carbone cardoso carol \
    carrasco carvalho casado castillo castro celle chandler chapman chevalier chiara christian clement coelho \
    colombo como concord consuelo conte conti cools cooper correia cortés costa crema crespo cruz cuenca \
    cunha dalia dang dekker delgado derrick dexter dieu diez dole dolores domingo donati dong engel engin \
    ernst escobar esperanza estela estrada fabbri falconer fang fano ferreira figueiredo fiore fisher \
    flagstaff fletcher fleur fleury flint flores fontaine fontana fournier franco franklin freeman fuentes \
    fusco gallardo gallego galli gallo garrido gatti gentile gill gong graham grassi grasso greco griffin \
    grit groen guerra guerrero haas harding harper heather hector heide herrera herrero hicks hidalgo holly \
    hoorn hung iglesias izquierdo joly kaiser kiss koster kramer krause kuiper kuipers laine lambert langer \
    lars lasse leer leon leone león linares lodi logan lombardi lombardo longo lozano macarena machado \
    manning marchand margarita marina marino marques marten martens mason massa mats maxim maxime mazza \
    meadows melo mercedes mercer mercier merino meunier mira modesto molenaar molina montero montes monti \
    mora morales moreira moreno moretti moss moulin moura mulder nascimento negri nevers newton nieto norma \
    noël octavia oliveira orange otero oxford padilla pagano palacios paloma pardo parra pascal pascual \
    pasquale pastor peine pelletier pereira perla peters petit petter peña pierre pilar pinheiro pinto porter \
    potenza prato prieto prins provo pueblo ramos reddy redondo reiner renard reno reyes ribeiro ricci rios \
    rishi riva rivera rivière rizzi roar robles rocha roche rogers rojas romain roman romane romano romans \
    romero ronda roos rosa rosemary rossi rousseau roux rubio rugby russo ríos saga sala salamanca salvador \
    salvatore sander sanders santos sauer sawyer schilling schneider schouten schuster schwarz segura serena \
    serge serra serrano sheikh silva silvestre skinner smit smith solange soledad soler sommer soto spencer \
    stade stahl steven stokes stroud tang testa thatcher tiel tien till toro torres tosi turner underwood \
    urban valence valentine vanda vannes vega vera victor vieira ville viola visser vitale vitali vittoria \
    vogel walker ward warren waterloo weaver webb weber weert weiden wells whitehead winkler winters woods \
    worms zapata ángel";

/// Whether a word, in any case, is the name of a person or a town that both have and stand for, and no ordinary word: in small letters
/// it is that name as well.
pub(super) fn is_name_in_small_letters(word: &str) -> bool {
    let lower = word.to_lowercase();
    let listed = [Dictionary::persons(), Dictionary::towns()].iter().any(|list| list.is_name_only(&lower));
    if !listed || lower.chars().count() < SHORTEST {
        return false;
    }
    !is_common_word(&lower) && !ORDINARY.split_ascii_whitespace().any(|other| other == lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_words() {
        for name in ["rebecca", "Damian", "lopez", "honiton", "Monmouth"] {
            assert!(is_name_in_small_letters(name), "{name}");
        }
        for word in ["rugby", "Orange", "street", "mark", "walker", "ann", "rebecca fenwick", "qwxz", ""] {
            assert!(!is_name_in_small_letters(word), "{word}");
        }
    }

    #[test]
    fn ordinary_words_are_of_the_dictionaries() {
        for word in ORDINARY.split_ascii_whitespace() {
            let known = [Dictionary::persons(), Dictionary::towns()].iter().any(|list| list.knows(word));
            assert!(known, "{word} is in no list");
        }
    }
}
