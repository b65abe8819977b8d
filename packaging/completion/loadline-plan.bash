# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of loadline-plan. Verbs and flags are asked of the program itself, so that they are never out of date.
_loadline_plan() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]} verb=${COMP_WORDS[1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" --help 2>/dev/null | awk '/^Subcommands:/ { on = 1; next } on && NF { print $1 }')" -- "$word")
        return
    fi
    case $before in
    --model | --cluster)
        local names
        names=$("$program" list --json 2>/dev/null | grep -o '"name": *"[^"]*"' | sed 's/.*"\([^"]*\)"$/\1/')
        mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word"; compgen -f -- "$word")
        return
        ;;
    esac
    if [[ $word == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("$program" "$verb" --help 2>/dev/null | grep -o -e '--[a-z-]*' | sort -u)" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -F _loadline_plan loadline-plan
