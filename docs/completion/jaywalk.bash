# bash completion for jaywalk                                            -*- shell-script -*-
# Made from the option tables; a test compares the two.

# Sets what there is to know of the command $1 and its option $2, with its equals sign if it has one.
_jaywalk_facts() {
    local option=$2
    kind=none options='' operands=none
    case $1 in
    profile)
        operands=jvms
        options='-d --duration= -e --event= -i --interval= --wall --wall= --alloc --alloc= --live --live= --lock --lock= --locks= --trace= --time= --count= --endpoints= --queue --queue= --io --io= --exceptions --exceptions= --classload --asyncstacks --pausebudget= --alluser --overhead --overhead= --nobatch --filter --filter= --attributes= --service= -j --jstackdepth= --cstack= -F --features= --nativecheck --nativecheck= --ttsp --ttsp= --begin= --end= --memlimit= -f --file= -o --output= --chunksize= --chunktime= --dialect= --noargs --sysprops= --environ= --from= --to= --thread= --state= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= -s --simple --inverted --libpath= --log= -L --loglevel= -q --quiet -h --help '
        case $option in
        -d | --duration | --duration=) kind=any ;;
        -e | --event | --event=) kind=words words='cpu itimer wall alloc lock cpu-clock exception' ;;
        -i | --interval | --interval=) kind=any ;;
        --wall=) kind=any ;;
        --alloc=) kind=any ;;
        --live=) kind=any ;;
        --lock=) kind=any ;;
        --locks | --locks=) kind=words words='waits census objects' ;;
        --trace | --trace=) kind=any ;;
        --time | --time=) kind=any ;;
        --count | --count=) kind=any ;;
        --endpoints | --endpoints=) kind=words words='auto jdk-http servlet spring-mvc jax-rs grpc netty kafka none' ;;
        --queue=) kind=any ;;
        --io=) kind=any ;;
        --exceptions=) kind=any ;;
        --pausebudget | --pausebudget=) kind=any ;;
        --overhead=) kind=any ;;
        --filter=) kind=any ;;
        --attributes | --attributes=) kind=any ;;
        --service | --service=) kind=any ;;
        -j | --jstackdepth | --jstackdepth=) kind=any ;;
        --cstack | --cstack=) kind=words words='vm vmx fp libunwind agct no' ;;
        -F | --features | --features=) kind=words words='vtable comptask carrier mixed pcaddr plainstacks none' ;;
        --nativecheck=) kind=any ;;
        --ttsp=) kind=any ;;
        --begin | --begin=) kind=words words='ttsp SafepointSynchronize::begin RuntimeService::record_safepoint_synchronized SafepointSynchronize::end no' ;;
        --end | --end=) kind=words words='RuntimeService::record_safepoint_synchronized SafepointSynchronize::end SafepointSynchronize::begin no' ;;
        --memlimit | --memlimit=) kind=any ;;
        -f | --file | --file=) kind=files ;;
        -o | --output | --output=) kind=words words='jfr html collapsed text flat traces tree pprof otlp' ;;
        --chunksize | --chunksize=) kind=any ;;
        --chunktime | --chunktime=) kind=any ;;
        --dialect | --dialect=) kind=words words='standard async-profiler datadog' ;;
        --sysprops | --sysprops=) kind=words words='yes no' ;;
        --environ | --environ=) kind=words words='yes no' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --state | --state=) kind=words words='any running sleeping parked blocked waiting native' ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        --log | --log=) kind=files ;;
        -L | --loglevel | --loglevel=) kind=words words='debug info warn error none' ;;
        esac
        ;;
    record)
        operands=program
        options='-e --event= -i --interval= --wall --wall= --alloc --alloc= --live --live= --lock --lock= --locks= --trace= --time= --count= --endpoints= --queue --queue= --io --io= --exceptions --exceptions= --classload --asyncstacks --pausebudget= --alluser --overhead --overhead= --nobatch --filter --filter= --attributes= --service= -j --jstackdepth= --cstack= -F --features= --nativecheck --nativecheck= --ttsp --ttsp= --begin= --end= --memlimit= -f --file= -o --output= --chunksize= --chunktime= --dialect= --noargs --sysprops= --environ= --from= --to= --thread= --state= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= -s --simple --inverted --timeout= --loop= --libpath= --log= -L --loglevel= -q --quiet -h --help '
        case $option in
        -e | --event | --event=) kind=words words='cpu itimer wall alloc lock cpu-clock exception' ;;
        -i | --interval | --interval=) kind=any ;;
        --wall=) kind=any ;;
        --alloc=) kind=any ;;
        --live=) kind=any ;;
        --lock=) kind=any ;;
        --locks | --locks=) kind=words words='waits census objects' ;;
        --trace | --trace=) kind=any ;;
        --time | --time=) kind=any ;;
        --count | --count=) kind=any ;;
        --endpoints | --endpoints=) kind=words words='auto jdk-http servlet spring-mvc jax-rs grpc netty kafka none' ;;
        --queue=) kind=any ;;
        --io=) kind=any ;;
        --exceptions=) kind=any ;;
        --pausebudget | --pausebudget=) kind=any ;;
        --overhead=) kind=any ;;
        --filter=) kind=any ;;
        --attributes | --attributes=) kind=any ;;
        --service | --service=) kind=any ;;
        -j | --jstackdepth | --jstackdepth=) kind=any ;;
        --cstack | --cstack=) kind=words words='vm vmx fp libunwind agct no' ;;
        -F | --features | --features=) kind=words words='vtable comptask carrier mixed pcaddr plainstacks none' ;;
        --nativecheck=) kind=any ;;
        --ttsp=) kind=any ;;
        --begin | --begin=) kind=words words='ttsp SafepointSynchronize::begin RuntimeService::record_safepoint_synchronized SafepointSynchronize::end no' ;;
        --end | --end=) kind=words words='RuntimeService::record_safepoint_synchronized SafepointSynchronize::end SafepointSynchronize::begin no' ;;
        --memlimit | --memlimit=) kind=any ;;
        -f | --file | --file=) kind=files ;;
        -o | --output | --output=) kind=words words='jfr html collapsed text flat traces tree pprof otlp' ;;
        --chunksize | --chunksize=) kind=any ;;
        --chunktime | --chunktime=) kind=any ;;
        --dialect | --dialect=) kind=words words='standard async-profiler datadog' ;;
        --sysprops | --sysprops=) kind=words words='yes no' ;;
        --environ | --environ=) kind=words words='yes no' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --state | --state=) kind=words words='any running sleeping parked blocked waiting native' ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --timeout | --timeout=) kind=any ;;
        --loop | --loop=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        --log | --log=) kind=files ;;
        -L | --loglevel | --loglevel=) kind=words words='debug info warn error none' ;;
        esac
        ;;
    start)
        operands=jvms
        options='-e --event= -i --interval= --wall --wall= --alloc --alloc= --live --live= --lock --lock= --locks= --trace= --time= --count= --endpoints= --queue --queue= --io --io= --exceptions --exceptions= --classload --asyncstacks --pausebudget= --alluser --overhead --overhead= --nobatch --filter --filter= --attributes= --service= -j --jstackdepth= --cstack= -F --features= --nativecheck --nativecheck= --ttsp --ttsp= --begin= --end= --memlimit= -f --file= -o --output= --chunksize= --chunktime= --dialect= --noargs --sysprops= --environ= --from= --to= --thread= --state= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= -s --simple --inverted --timeout= --loop= --libpath= --log= -L --loglevel= -h --help '
        case $option in
        -e | --event | --event=) kind=words words='cpu itimer wall alloc lock cpu-clock exception' ;;
        -i | --interval | --interval=) kind=any ;;
        --wall=) kind=any ;;
        --alloc=) kind=any ;;
        --live=) kind=any ;;
        --lock=) kind=any ;;
        --locks | --locks=) kind=words words='waits census objects' ;;
        --trace | --trace=) kind=any ;;
        --time | --time=) kind=any ;;
        --count | --count=) kind=any ;;
        --endpoints | --endpoints=) kind=words words='auto jdk-http servlet spring-mvc jax-rs grpc netty kafka none' ;;
        --queue=) kind=any ;;
        --io=) kind=any ;;
        --exceptions=) kind=any ;;
        --pausebudget | --pausebudget=) kind=any ;;
        --overhead=) kind=any ;;
        --filter=) kind=any ;;
        --attributes | --attributes=) kind=any ;;
        --service | --service=) kind=any ;;
        -j | --jstackdepth | --jstackdepth=) kind=any ;;
        --cstack | --cstack=) kind=words words='vm vmx fp libunwind agct no' ;;
        -F | --features | --features=) kind=words words='vtable comptask carrier mixed pcaddr plainstacks none' ;;
        --nativecheck=) kind=any ;;
        --ttsp=) kind=any ;;
        --begin | --begin=) kind=words words='ttsp SafepointSynchronize::begin RuntimeService::record_safepoint_synchronized SafepointSynchronize::end no' ;;
        --end | --end=) kind=words words='RuntimeService::record_safepoint_synchronized SafepointSynchronize::end SafepointSynchronize::begin no' ;;
        --memlimit | --memlimit=) kind=any ;;
        -f | --file | --file=) kind=files ;;
        -o | --output | --output=) kind=words words='jfr html collapsed text flat traces tree pprof otlp' ;;
        --chunksize | --chunksize=) kind=any ;;
        --chunktime | --chunktime=) kind=any ;;
        --dialect | --dialect=) kind=words words='standard async-profiler datadog' ;;
        --sysprops | --sysprops=) kind=words words='yes no' ;;
        --environ | --environ=) kind=words words='yes no' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --state | --state=) kind=words words='any running sleeping parked blocked waiting native' ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --timeout | --timeout=) kind=any ;;
        --loop | --loop=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        --log | --log=) kind=files ;;
        -L | --loglevel | --loglevel=) kind=words words='debug info warn error none' ;;
        esac
        ;;
    resume)
        operands=jvms
        options='-f --file= --timeout= --libpath= -h --help '
        case $option in
        -f | --file | --file=) kind=files ;;
        --timeout | --timeout=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    stop)
        operands=jvms
        options='-f --file= -o --output= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= -s --simple --inverted --libpath= -h --help '
        case $option in
        -f | --file | --file=) kind=files ;;
        -o | --output | --output=) kind=words words='jfr html collapsed text flat traces tree pprof otlp' ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    dump)
        operands=jvms
        options='-f --file= -o --output= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= -s --simple --inverted --libpath= -h --help '
        case $option in
        -f | --file | --file=) kind=files ;;
        -o | --output | --output=) kind=words words='jfr html collapsed text flat traces tree pprof otlp' ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    status)
        operands=jvms
        options='--libpath= -h --help '
        case $option in
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    metrics)
        operands=jvms
        options='--libpath= -h --help '
        case $option in
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    version)
        operands=jvms
        options='--libpath= -h --help '
        case $option in
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    jps)
        operands=none
        options='-h --help '
        case $option in
        esac
        ;;
    list)
        operands=jvms
        options='--libpath= -h --help '
        case $option in
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    convert)
        operands=recording
        options='-o --output= --diff= --times= -e --event= --live --blame -s --state= --from= --to= --latency= --safepoint --thread= --endpoint= --attribute= --trace-id= --span-id= -I --include= -X --exclude= --lines -t --threads -r --reverse -n --norm -g --sig -a --ann -l --lib --compilations --dot --samples --total --title= --minwidth= --traces --traces= --flat --flat= --by= --simple -i --inverted --max-size= --jobs= -q --quiet -h --help '
        case $option in
        -o | --output | --output=) kind=words words='html explorer collapsed text flat traces tree pprof otlp jsonl csv' ;;
        --diff | --diff=) kind=files ;;
        --times | --times=) kind=words words='iso ms ns' ;;
        -e | --event | --event=) kind=words words='cpu wall alloc live lock blame exception new' ;;
        -s | --state | --state=) kind=words words='running sleeping parked blocked waiting native' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --latency | --latency=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --endpoint | --endpoint=) kind=any ;;
        --attribute | --attribute=) kind=any ;;
        --trace-id | --trace-id=) kind=any ;;
        --span-id | --span-id=) kind=any ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --traces=) kind=any ;;
        --flat=) kind=any ;;
        --by | --by=) kind=words words='endpoint operation thread attribute:' ;;
        --max-size | --max-size=) kind=any ;;
        --jobs | --jobs=) kind=any ;;
        esac
        ;;
    endpoints)
        operands=recordings
        options='--by= --sort= --top= -o --output= -e --event= -s --state= --from= --to= --latency= --safepoint --thread= --endpoint= --attribute= --trace-id= --span-id= -I --include= -X --exclude= --simple -n --norm --lines --title= --minwidth= --jobs= -q --quiet -h --help '
        case $option in
        --by | --by=) kind=words words='endpoint operation thread attribute:' ;;
        --sort | --sort=) kind=words words='cpu wall samples requests name' ;;
        --top | --top=) kind=any ;;
        -o | --output | --output=) kind=words words='text csv json' ;;
        -e | --event | --event=) kind=words words='cpu wall' ;;
        -s | --state | --state=) kind=words words='running sleeping parked blocked waiting native' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --latency | --latency=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --endpoint | --endpoint=) kind=any ;;
        --attribute | --attribute=) kind=any ;;
        --trace-id | --trace-id=) kind=any ;;
        --span-id | --span-id=) kind=any ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --jobs | --jobs=) kind=any ;;
        esac
        ;;
    safepoints)
        operands=recordings
        options='--from= --to= --top= --json -q --quiet -h --help '
        case $option in
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --top | --top=) kind=any ;;
        esac
        ;;
    doctor)
        operands=either
        options='--json --strict -q --quiet --libpath= -h --help '
        case $option in
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    compare)
        operands=recordings
        options='--fail-on= --per= -o --output= --top= -e --event= -s --state= --from= --to= --latency= --safepoint --thread= --endpoint= --attribute= --trace-id= --span-id= -I --include= -X --exclude= -g --sig -l --lib --simple --lines -n --norm --title= --minwidth= --jobs= -q --quiet -h --help '
        case $option in
        --fail-on | --fail-on=) kind=any ;;
        --per | --per=) kind=words words='share second run' ;;
        -o | --output | --output=) kind=words words='text markdown json' ;;
        --top | --top=) kind=any ;;
        -e | --event | --event=) kind=words words='cpu wall alloc live' ;;
        -s | --state | --state=) kind=words words='running sleeping parked blocked waiting native' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --latency | --latency=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --endpoint | --endpoint=) kind=any ;;
        --attribute | --attribute=) kind=any ;;
        --trace-id | --trace-id=) kind=any ;;
        --span-id | --span-id=) kind=any ;;
        -I | --include | --include=) kind=any ;;
        -X | --exclude | --exclude=) kind=any ;;
        --title | --title=) kind=any ;;
        --minwidth | --minwidth=) kind=any ;;
        --jobs | --jobs=) kind=any ;;
        esac
        ;;
    leaks)
        operands=recordings
        options='--age= --top= --json -q --quiet -h --help '
        case $option in
        --age | --age=) kind=any ;;
        --top | --top=) kind=any ;;
        esac
        ;;
    contention)
        operands=recordings
        options='--from= --to= --thread= --endpoint= --attribute= --latency= --instance= --top= --json -q --quiet -h --help '
        case $option in
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --endpoint | --endpoint=) kind=any ;;
        --attribute | --attribute=) kind=any ;;
        --latency | --latency=) kind=any ;;
        --instance | --instance=) kind=any ;;
        --top | --top=) kind=any ;;
        esac
        ;;
    locks)
        operands=recordings
        options='--top= --json -q --quiet -h --help '
        case $option in
        --top | --top=) kind=any ;;
        esac
        ;;
    latency)
        operands=recordings
        options='--by= --from= --to= --thread= --endpoint= --attribute= --latency= --top= --json -q --quiet -h --help '
        case $option in
        --by | --by=) kind=words words='endpoint operation thread attribute:' ;;
        --from | --from=) kind=any ;;
        --to | --to=) kind=any ;;
        --thread | --thread=) kind=any ;;
        --endpoint | --endpoint=) kind=any ;;
        --attribute | --attribute=) kind=any ;;
        --latency | --latency=) kind=any ;;
        --top | --top=) kind=any ;;
        esac
        ;;
    summary)
        operands=recordings
        options='--json --strict -q --quiet -h --help '
        case $option in
        esac
        ;;
    recover)
        operands=recordings
        options='-q --quiet -h --help '
        case $option in
        esac
        ;;
    merge)
        operands=recordings
        options='-q --quiet -h --help '
        case $option in
        esac
        ;;
    split)
        operands=recordings
        options='--every= --size= -q --quiet -h --help '
        case $option in
        --every | --every=) kind=any ;;
        --size | --size=) kind=any ;;
        esac
        ;;
    rules)
        operands=rules
        options='--taken --all --json --strict -q --quiet -h --help '
        case $option in
        esac
        ;;
    probe)
        operands=rules
        options='--all --json --strict --rules= --pausebudget= -q --quiet --libpath= -h --help '
        case $option in
        --rules | --rules=) kind=files ;;
        --pausebudget | --pausebudget=) kind=any ;;
        --libpath | --libpath=) kind=files ;;
        esac
        ;;
    help) operands=commands ;;
    esac
}

_jaywalk_commands='profile record start resume stop dump status metrics version jps list convert endpoints safepoints doctor compare leaks contention locks latency summary recover merge split rules probe help'

# Words that begin with $1, of those in $2.
_jaywalk_words() {
    mapfile -t COMPREPLY < <(compgen -W "$2" -- "$1")
    # What ends with an equals sign waits for its value, with a colon for a name.
    [[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *[=:] ]] || compopt -o nospace 2>/dev/null
}

# Files that begin with $1 and end with $2, packed or not, and directories.
_jaywalk_files() {
    mapfile -t COMPREPLY < <(compgen -f -X "!*$2" -- "$1"
        [[ -z $2 ]] || compgen -f -X "!*$2.zst" -- "$1"
        compgen -d -S / -- "$1")
    compopt -o filenames -o nospace 2>/dev/null
}

# JVMs by number, and by main class or jar without its directory.
_jaywalk_jvms() {
    local id name found=''
    while read -r id name; do
        name=${name%% *}
        found+="$id ${name##*/} "
    done < <("$2" jps 2>/dev/null)
    _jaywalk_words "$1" "$found"
}

_jaywalk() {
    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command='' option='' kind options operands words word count=0 ended=''
    local -i i
    COMPREPLY=()
    # The equals sign is a word of its own in bash.
    if [[ $current == = ]]; then
        option=$before= current=''
    elif [[ $before == = && $COMP_CWORD -gt 2 ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}=
    elif [[ $before == -* && $before != -- ]]; then
        option=$before
    fi
    # Without a command, profile is meant.
    word=${COMP_WORDS[1]}
    [[ " $_jaywalk_commands " != *" $word "* || $COMP_CWORD -eq 1 ]] || command=$word
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} != -- ]] || ended=yes
    done
    _jaywalk_facts "${command:-profile}" "$option"
    if [[ $operands == program && -n $ended ]]; then
        mapfile -t COMPREPLY < <(compgen -c -- "$current"; compgen -f -- "$current")
        return
    fi
    case $kind in
    words) _jaywalk_words "$current" "$words"; return ;;
    files) _jaywalk_files "$current" ''; return ;;
    any) return ;;
    esac
    if [[ $current == -* ]]; then
        _jaywalk_words "$current" "$options"
        return
    fi
    if [[ -z $command && $COMP_CWORD -eq 1 ]]; then
        _jaywalk_jvms "$current" "${COMP_WORDS[0]}"
        local -a jvms=("${COMPREPLY[@]}")
        _jaywalk_words "$current" "$_jaywalk_commands"
        COMPREPLY+=("${jvms[@]}")
        return
    fi
    case $operands in
    jvms) _jaywalk_jvms "$current" "${COMP_WORDS[0]}" ;;
    commands) _jaywalk_words "$current" "$_jaywalk_commands agent" ;;
    program) _jaywalk_words "$current" '-- java' ;;
    recordings) _jaywalk_files "$current" .jfr ;;
    rules)
        # What to do comes first, then files.
        if [[ $COMP_CWORD -eq 3 && ${COMP_WORDS[2]} == @(attach|list|detach) ]]; then
            _jaywalk_jvms "$current" "${COMP_WORDS[0]}"
        elif [[ $COMP_CWORD -gt 2 ]]; then
            _jaywalk_files "$current" ''
        elif [[ $command == rules ]]; then
            _jaywalk_words "$current" 'check dry-run'
        else
            _jaywalk_words "$current" 'check attach list detach'
        fi
        ;;
    either)
        _jaywalk_jvms "$current" "${COMP_WORDS[0]}"
        local -a either=("${COMPREPLY[@]}")
        _jaywalk_files "$current" .jfr
        COMPREPLY+=("${either[@]}")
        ;;
    recording)
        # The first is a recording, the second an output.
        for ((i = 2; i < COMP_CWORD; i++)); do
            [[ ${COMP_WORDS[i]} != *.jfr?(.zst) ]] || count=$((count + 1))
        done
        if [[ $count -eq 0 ]]; then
            _jaywalk_files "$current" .jfr
        else
            _jaywalk_files "$current" ''
        fi
        ;;
    esac
}

complete -F _jaywalk jaywalk
