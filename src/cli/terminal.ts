import { isatty } from 'node:tty'

/** Terminal of an interactive command: its size and its keys. Text is written to `Io.out`. */
export type Terminal = {
  size(): TerminalSize
  /** Calls `run` after each change of the size, until disposed. */
  onResize(run: () => void): Disposable
  /**
   * Reads keys without echo until disposed, and passes their bytes as text. Ctrl-C is a key then, and sends no signal.
   * @param ended called when the terminal is closed
   */
  onKeys(run: (text: string) => void, ended: () => void): Disposable
}

export type TerminalSize = { readonly columns: number; readonly rows: number }

/** Returns the terminal of the process; undefined: standard input or output is not one. */
export function processTerminal(): Terminal | undefined {
  if (!isatty(0) || !isatty(1)) return undefined
  const { stdout } = process
  return {
    // a terminal without a size, such as a serial line, reports 0
    size: () => ({ columns: stdout.columns || 80, rows: stdout.rows || 24 }),
    onResize(run): Disposable {
      stdout.on('resize', run)
      return { [Symbol.dispose]: () => void stdout.off('resize', run) }
    },
    onKeys(run, ended): Disposable {
      // opened here: other commands do not read standard input
      const { stdin } = process
      const onData = (bytes: Buffer): void => run(bytes.toString('utf8'))
      stdin.setRawMode(true).on('data', onData).on('end', ended).on('error', ended).resume()
      return {
        [Symbol.dispose](): void {
          stdin.setRawMode(false).off('data', onData).off('end', ended).off('error', ended).pause()
        },
      }
    },
  }
}
