/** Node of the tree of commands. */
export type CommandNode = {
  /** words after `basalt`, such as `devnet tx` */
  readonly words: string
  readonly doc: string
  readonly commands: readonly { readonly name: string; readonly doc: string }[]
  readonly flags: readonly FlagWord[]
}

export type FlagWord = {
  /** `--json` */
  readonly word: string
  readonly doc: string
  readonly takesValue: boolean
  /** the values of a choice; empty: any */
  readonly choices: readonly string[]
  readonly takesFile: boolean
}

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

/** Case arms of a shell script, one for the words of each command. */
const arms = (tree: readonly CommandNode[], body: (node: CommandNode) => string): string =>
  tree.map((node) => `    ${quoted(node.words)}) ${body(node)} ;;\n`).join('')

/** Every flag once: its word decides what its value completes to. */
function valueFlags(tree: readonly CommandNode[]): readonly FlagWord[] {
  const byWord = new Map(tree.flatMap(({ flags }) => flags).map((flag) => [flag.word, flag]))
  return [...byWord.values()].filter(({ takesValue }) => takesValue)
}

const valueArms = (tree: readonly CommandNode[], ofFile: string, ofChoices: (choices: string) => string, ofAny: string): string =>
  valueFlags(tree)
    .map(
      ({ word, choices, takesFile }) =>
        `    ${word}) ${choices.length > 0 ? ofChoices(choices.join(' ')) : takesFile ? ofFile : ofAny} ;;\n`,
    )
    .join('')

/** Returns the words of a tree at which a command has subcommands, for the loop that finds the command of a line. */
const parents = (tree: readonly CommandNode[]): string =>
  tree
    .filter(({ commands }) => commands.length > 0)
    .flatMap(({ words, commands }) => commands.map(({ name }) => `${words} ${name}`.trim()))
    .map((words) => quoted(words))
    .join('|')

function bashScript(tree: readonly CommandNode[]): string {
  return `# bash completion of basalt: eval "$(basalt completion bash)"
_basalt() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD - 1]} path= at next words
  for ((at = 1; at < COMP_CWORD; at++)); do
    next="\${path:+$path }\${COMP_WORDS[at]}"
    case "$next" in
    ${parents(tree)}) path=$next ;;
    esac
  done
  COMPREPLY=()
  case "$before" in
${valueArms(tree, 'COMPREPLY=($(compgen -f -- "$word")); return', (choices) => `COMPREPLY=($(compgen -W ${quoted(choices)} -- "$word")); return`, 'return')}  esac
  case "$path" in
${arms(tree, ({ commands, flags }) => `words=${quoted([...commands.map(({ name }) => name), ...flags.map(({ word }) => word), '--help'].join(' '))}`)}  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [[ \${#COMPREPLY[@]} -eq 0 && $word != -* ]] && COMPREPLY=($(compgen -f -- "$word"))
}
complete -o filenames -F _basalt basalt
`
}

function zshScript(tree: readonly CommandNode[]): string {
  const described = (name: string, doc: string): string => quoted(`${name}:${doc.replaceAll(':', '\\:')}`)
  return `#compdef basalt
# zsh completion of basalt: source <(basalt completion zsh)
_basalt() {
  local path= next at
  local -a offers
  for ((at = 2; at < CURRENT; at++)); do
    next="\${path:+$path }\${words[at]}"
    case "$next" in
    ${parents(tree)}) path=$next ;;
    esac
  done
  case "\${words[CURRENT - 1]}" in
${valueArms(tree, '_files; return', (choices) => `compadd -- ${choices}; return`, 'return')}  esac
  case "$path" in
${arms(tree, ({ commands, flags }) => `offers=(${[...commands.map(({ name, doc }) => described(name, doc)), ...flags.map(({ word, doc }) => described(word, doc))].join(' ')})`)}  esac
  _describe 'basalt' offers || _files
}
(( $+functions[compdef] )) && compdef _basalt basalt
`
}

function fishScript(tree: readonly CommandNode[]): string {
  const lines = tree.flatMap(({ words, commands, flags }) => {
    const condition = quoted(`test (__basalt_path) = ${words === '' ? '""' : `"${words}"`}`)
    const ofCommands = commands.map(({ name, doc }) => `complete -c basalt -f -n ${condition} -a ${quoted(name)} -d ${quoted(doc)}`)
    const ofFlags = flags.map(({ word, doc, takesValue, choices, takesFile }) => {
      const value = choices.length > 0 ? ` -x -a ${quoted(choices.join(' '))}` : takesFile ? ' -r -F' : takesValue ? ' -x' : ' -f'
      return `complete -c basalt -n ${condition} -l ${quoted(word.slice(2))} -d ${quoted(doc)}${value}`
    })
    return [...ofCommands, ...ofFlags]
  })
  return `# fish completion of basalt: basalt completion fish | source
function __basalt_path
  set -l path
  for word in (commandline -opc)[2..]
    switch (string join ' ' $path $word)
      case ${parents(tree).replaceAll('|', ' ')}
        set path $path $word
    end
  end
  string join ' ' $path; or echo ''
end
${lines.join('\n')}
`
}

const makers: Readonly<Record<Shell, (tree: readonly CommandNode[]) => string>> = { bash: bashScript, zsh: zshScript, fish: fishScript }

/** Returns the completion script of a shell. It needs no call of basalt while a line is completed. */
export const completionScript = (shell: Shell, tree: readonly CommandNode[]): string => makers[shell](tree)
