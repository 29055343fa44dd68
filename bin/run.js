// `node bin/run.js scripts/x.ts …` runs a script on Node 24, whichever Node the machine has.
import { resolve } from 'node:path'
import { launch } from './launch.js'

const [file = '', ...args] = process.argv.slice(2)
await launch(resolve(file), args)
