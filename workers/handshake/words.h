/* Words that are made at run time, for what a library negotiated and no case can ask for. */
#ifndef KEXBENCH_WORDS_H
#define KEXBENCH_WORDS_H

/* It lives as long as the process, since results outlive the side and the context that told it. The same text
 * is the same word, so that there are few of them. Any thread may ask. */
__attribute__((format(printf, 1, 2))) const char *lasting_word(const char *format, ...);

#endif
