# Installation.

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
MANDIR ?= $(PREFIX)/share/man
COMPLETIONDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHDIR ?= $(PREFIX)/share/zsh/site-functions
FISHDIR ?= $(PREFIX)/share/fish/vendor_completions.d
JARDIR ?= $(PREFIX)/share/java
INCLUDEDIR ?= $(PREFIX)/include
DOCDIR ?= $(PREFIX)/share/doc/jaywalk

.PHONY: install-files
install-files: all
	install -d $(DESTDIR)$(BINDIR) $(DESTDIR)$(LIBDIR) $(DESTDIR)$(DOCDIR)
	install -m 755 $(COMMAND) $(DESTDIR)$(BINDIR)/jaywalk
	install -m 644 $(LIBRARY) $(DESTDIR)$(LIBDIR)/libjaywalk.so
	if [ -f $(JAR) ]; then install -D -m 644 $(JAR) $(DESTDIR)$(JARDIR)/jaywalk.jar; fi
	install -D -m 644 include/jaywalk.h $(DESTDIR)$(INCLUDEDIR)/jaywalk.h
	install -m 644 LICENSE $(DESTDIR)$(DOCDIR)/LICENSE
	install -D -m 644 docs/man/jaywalk.1 $(DESTDIR)$(MANDIR)/man1/jaywalk.1
	install -D -m 644 docs/completion/jaywalk.bash $(DESTDIR)$(COMPLETIONDIR)/jaywalk
	install -D -m 644 docs/completion/_jaywalk $(DESTDIR)$(ZSHDIR)/_jaywalk
	install -D -m 644 docs/completion/jaywalk.fish $(DESTDIR)$(FISHDIR)/jaywalk.fish
