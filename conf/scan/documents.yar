// Documents that attack whoever opens them. Each rule wants two signs: something that runs by itself, and something
// that no honest document runs. That a document acts is no sign by itself; acting is what disarming takes out.

rule PDF_Launches_Command
{
    meta:
        description = "A launch action with a shell or a script host"
    strings:
        $launch = /\/(L|#4[cC])(a|#61)(u|#75)(n|#6[eE])(c|#63)(h|#68)\b/
        $command = /\b(cmd\.exe|powershell(\.exe)?|mshta(\.exe)?|[wc]script\.exe|rundll32|regsvr32|certutil|bitsadmin)\b/ nocase
        $shell = /\/bin\/(ba|z|da)?sh\b/
    condition:
        for any i in (0 .. 1023) : (uint32be(i) == 0x25504446) and $launch and any of ($command, $shell)
}

rule PDF_Script_Exploits_Reader
{
    meta:
        description = "A call that only exploits of old readers make, with a payload in escapes"
    strings:
        $call1 = "Collab.collectEmailInfo"
        $call2 = "Collab.getIcon"
        $call3 = "media.newPlayer"
        $call4 = "spell.customDictionaryOpen"
        $call5 = /util\.printf\s*\(\s*["']%\d{4,}f/
        $payload = /unescape\s*\(\s*["'](%u[0-9a-fA-F]{4}){4}/
    condition:
        any of ($call*) and $payload
}

rule VBA_Runs_Command_By_Itself
{
    meta:
        description = "A macro that starts with the document, and starts a shell or downloads a program"
    strings:
        $begin = /\b(Auto_?(Open|Exec|Close|New)|(Document|Workbook)_?(Open|Close|BeforeClose|New))\b/ nocase
        $host = /\b(WScript\.Shell|Shell\.Application|Win32_Process(Startup)?)\b/ nocase
        $word = /\b(powershell|cmd(\.exe)? \/c|mshta|rundll32|regsvr32|certutil|bitsadmin)\b/ nocase
        $fetch = /\b(URLDownloadToFile[AW]?|Microsoft\.XMLHTTP|MSXML2\.(Server)?XMLHTTP|WinHttp\.WinHttpRequest)\b/ nocase
        $write = /\b(ADODB\.Stream|SaveToFile|ShellExecute[AW]?)\b/ nocase
        $vba = "Attribute VB_Name" nocase
    condition:
        (uint32be(0) == 0xd0cf11e0 or $vba) and $begin and (($host and $word) or ($fetch and ($write or $host)))
}

rule OLE_Package_Holds_Program
{
    meta:
        description = "A packaged object that is a program or a shortcut"
    strings:
        $package = "\x01Ole10Native" wide
        $shortcut = { 4c 00 00 00 01 14 02 00 00 00 00 00 c0 00 00 00 00 00 00 46 }
        $program = "This program cannot be run in DOS mode"
    condition:
        uint32be(0) == 0xd0cf11e0 and $package and any of ($shortcut, $program)
}

rule RTF_Equation_Runs_By_Itself
{
    meta:
        description = "An Equation 3.0 object that is opened with the document (CVE-2017-11882 and its kin)"
    strings:
        $class = "4571756174696f6e2e33" nocase
        $name = "Equation.3" nocase
        $update = "\\objupdate"
    condition:
        uint32be(0) == 0x7b5c7274 and $update and any of ($class, $name)
}
