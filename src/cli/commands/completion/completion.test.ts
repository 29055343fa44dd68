import { spawnSync } from 'node:child_process'
import { beforeAll, expect, it } from 'vitest'
import { scriptedIo } from '#test/harness/l1/scriptedIo'
import { runCli } from '../../run.ts'

const scripts: Record<string, string> = {}

// a script has the flags of every command, whose files are loaded for it
beforeAll(async () => {
  for (const shell of ['bash', 'zsh', 'fish']) {
    const io = scriptedIo()
    expect(await runCli(['completion', shell], io)).toBe(0)
    scripts[shell] = io.written.out
  }
}, 120_000)

/** Returns the offers of a real bash for a line whose last word is to be completed. */
function offersOfBash(text: string, line: readonly string[]): readonly string[] {
  const words = line.map((word) => `'${word}'`).join(' ')
  const program = `${text}\nCOMP_WORDS=(${words}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _basalt; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['--norc'], { input: program, encoding: 'utf8' })
  expect([status, stderr]).toEqual([0, ''])
  return stdout.trim().split('\n')
}

it('cli/commands/completion: bash offers commands, subcommands, flags and the values of a choice', () => {
  const text = scripts['bash'] ?? ''
  expect(offersOfBash(text, ['basalt', 'st'])).toEqual(['status'])
  expect(offersOfBash(text, ['basalt', ''])).toEqual(expect.arrayContaining(['node', 'status', 'explain', 'completion']))
  expect(offersOfBash(text, ['basalt', 'config', ''])).toEqual(expect.arrayContaining(['show', 'check', 'migrate']))
  expect(offersOfBash(text, ['basalt', 'config', 'check', '--http.p'])).toEqual(['--http.port'])
  expect(offersOfBash(text, ['basalt', 'node', '--network', 'base-'])).toEqual(['base-sepolia'])
  expect(offersOfBash(text, ['basalt', 'devnet', 'tx', '--mnem'])).toEqual(['--mnemonic'])
  expect(offersOfBash(text, ['basalt', 'version', '--'])).toEqual(['--json', '--check', '--release.index', '--help'])
})

it.each(['zsh', 'fish'])('cli/commands/completion: the script of %s has no syntax error, where that shell is installed', (shell) => {
  const text = scripts[shell] ?? ''
  expect(text).toContain('status')
  const checked = spawnSync(shell, ['-n', '/dev/stdin'], { input: text, encoding: 'utf8' })
  if (checked.error === undefined) expect([checked.status, checked.stderr]).toEqual([0, ''])
})

it('cli/commands/completion: refuses another shell (BAD_USAGE)', async () => {
  const io = scriptedIo()
  expect(await runCli(['completion', 'cmd'], io)).toBe(2)
  expect(io.written.err).toMatch(/no completion for "cmd", only for bash, zsh, fish/)
})
