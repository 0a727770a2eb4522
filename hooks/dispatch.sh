#!/bin/sh
# memx hook: written by `memx hooks install`, taken away by `memx hooks uninstall`.
# A hook that was here before runs first and its refusal counts; memx itself never stops git.
hook='@HOOK@' root='@ROOT@' git_dir=${GIT_DIR:-.git} input=
python='@PYTHON@'
legacy="${0%/*}/$hook.memx-legacy"
if [ "$hook" = post-rewrite ]; then input=$(cat); fi # a subshell costs as much as all the rest here
if [ -x "$legacy" ]; then
  if [ -n "$input" ]; then printf '%s\n' "$input" | "$legacy" "$@"; else "$legacy" "$@"; fi || exit $?
fi
if [ ! -d .memx ] || [ -n "$MEMX_HOOK" ] || [ "$hook:$3" = post-checkout:0 ]; then exit 0; fi
case $hook:$1 in post-[ac]*|post-rewrite:amend) # a replayed commit is no news, post-rewrite catches up once
  if [ -d "$git_dir/rebase-merge" ] || [ -f "$git_dir/rebase-apply/rebasing" ]; then exit 0; fi ;; esac
run='import sys; sys.path.append(sys.argv[1]); from memx.entry.hook import main; sys.exit(main(sys.argv[2:]))'
if [ -x "$python" ] && [ -f "$root/memx/entry/hook.py" ]; then
  printf '%s\n' "$input" | "$python" -EPc "$run" "$root" "$hook" "$@"
elif command -v memx >/dev/null 2>&1; then printf '%s\n' "$input" | memx hooks run "$hook" "$@"
else echo "memx: $hook skipped: memx is gone from $python; run memx hooks install" >&2
fi
[ $? -ne 10 ]
