# FROM, a text, as C strings in TO: one a line, so that none is longer than compilers must take
file(READ ${FROM} text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REGEX REPLACE "([^\n]*)\n" "\"\\1\\\\n\",\n" text "${text}")
file(WRITE ${TO} "${text}")
