import type { Command, CommandBody, CommandEntry } from '../../command.ts'
import { cliFault } from '../../faults.ts'
import type { Flag } from '../../flagSpec.ts'
import { type FlagName, flags, wordOf } from '../../flags.ts'
import { type CommandNode, completionScript, type FlagWord, shells } from './scripts.ts'

/** Longest description of an offer: longer ones break the columns of a terminal. */
const maxDocChars = 80
const shortDoc = (doc: string): string => {
  const [first = ''] = doc.split(/[;(]/)
  return first.trim().slice(0, maxDocChars)
}

function flagWord(name: FlagName): FlagWord {
  const { placeholder, expected, doc }: Flag<unknown> = flags[name]
  const choices = placeholder !== undefined && expected.startsWith('one of ') ? placeholder.split('|') : []
  return {
    word: `--${wordOf(name)}`,
    doc: shortDoc(doc),
    takesValue: placeholder !== undefined,
    choices,
    takesFile: placeholder === 'FILE' || placeholder === 'DIR',
  }
}

/** Returns a command and all below it. */
function nodesOf(words: string, doc: string, { flags: own, nodeFlags = [], commands = [] }: CommandBody): readonly CommandNode[] {
  const shown = [...own, ...nodeFlags]
  const node = { words, doc, commands: commands.map(({ name, doc: text }) => ({ name, doc: shortDoc(text) })), flags: shown.map(flagWord) }
  return [node, ...commands.flatMap((inner: Command) => nodesOf(`${words} ${inner.name}`, inner.doc, inner))]
}

/** Returns the tree of every command, the program itself first. */
async function commandTree(commands: readonly CommandEntry[]): Promise<readonly CommandNode[]> {
  const loaded = await Promise.all(commands.map(async ({ name, doc, load }) => nodesOf(name, doc, await load())))
  const top = { words: '', doc: '', commands: commands.map(({ name, doc }) => ({ name, doc: shortDoc(doc) })), flags: [] }
  return [top, ...loaded.flat()]
}

/** @param commands the table that has this command too */
export const completionOf = (commands: readonly CommandEntry[]): CommandBody => ({
  argument: { name: 'SHELL', doc: 'bash, zsh or fish' },
  flags: [],
  async run(io, _raw, name): Promise<number> {
    const shell = shells.find((one) => one === name)
    if (shell === undefined)
      throw cliFault('BAD_USAGE', { problem: `no completion for ${JSON.stringify(name)}, only for ${shells.join(', ')}` })
    io.out.write(completionScript(shell, await commandTree(commands)))
    return 0
  },
})
