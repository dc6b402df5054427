# The Java API: build/jar/jaywalk.jar, with the library of this machine in it.

JAR          := build/jar/jaywalk.jar
JAVA_SOURCES := $(wildcard java/io/jaywalk/*.java java/io/jaywalk/probe/*.java)

$(JAR): $(JAVA_SOURCES) $(LIBRARY) tools/build-jar tools/jdk-for-8
	$(call say,JAR,$@)
	@mkdir -p $(@D)
	$(Q)tools/build-jar $@ $(LIBRARY) $(host_arch) $(VERSION) $(JAVA_SOURCES)

.PHONY: javadoc
javadoc: ## documentation of the Java API into build/javadoc
	$(Q)tools/ensure "the documentation of the Java API" jdk
	$(Q)rm -rf build/javadoc
	$(Q)"$$(tools/jdks-list | sort -rn | head -n 1 | cut -d' ' -f2)/bin/javadoc" -quiet -Xdoclint:all -Werror \
	    -encoding UTF-8 -windowtitle jaywalk -d build/javadoc $(JAVA_SOURCES)
