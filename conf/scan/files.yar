// Files of other kinds.

rule EICAR_Test_File
{
    meta:
        description = "The test file that every scanner knows (EICAR, 2003): 68 bytes, then at most white space"
    strings:
        // Written so that this file is not one.
        $test = /X5O!P%@AP\[4\\PZX54\(P\^\)7CC\)7\}\$EICAR-STANDARD-ANTIVIRUS-TEST-FILE!\$H\+H\*/
    condition:
        filesize <= 131 and $test in (0 .. 3)
}

rule Shortcut_Runs_Command
{
    meta:
        description = "A shortcut that starts a shell or a script host on something from elsewhere, or hidden"
    strings:
        $host = /(powershell|cmd\.exe|mshta|[wc]script|rundll32|regsvr32)/ nocase ascii wide
        $how = /(-e(nc|ncodedcommand)? |-w(indowstyle)? hidden|https?:\/\/|frombase64string|downloadstring|\/c (start|curl|certutil|bitsadmin))/ nocase ascii wide
    condition:
        uint32(0) == 0x4c and uint32(4) == 0x00021401 and $host and $how
}

rule Program_Looks_Like_Document
{
    meta:
        description = "A Windows program that is a PDF or an Office package to whoever looks for one"
    strings:
        $pdf = "%PDF-1."
        $office = "[Content_Types].xml"
    condition:
        uint16(0) == 0x5a4d and uint32(uint32(0x3c)) == 0x4550 and ($pdf in (0 .. 1024) or $office)
}
