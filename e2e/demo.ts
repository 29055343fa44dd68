import { spawn } from 'node:child_process'

/** Runs `basalt demo` of an installed program until it has printed its result, then interrupts it. @throws Error unless all blocks are equal */
export async function runDemo(node: string, program: string, cwd: string): Promise<{ readonly blocks: number }> {
  const args = [program, 'demo', '--json', '--http.port', '0', '--rollup.port', '0']
  const child = spawn(node, args, { cwd, stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (text.includes('\n')) child.kill('SIGINT')
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  const { blocks, equal } = JSON.parse(text) as { blocks: number; equal: boolean }
  if (!equal || code !== 0) throw new Error(`the installed demo prints ${text}, exit code ${code}`)
  return { blocks }
}
