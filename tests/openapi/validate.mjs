// Judges descriptions by two validators: node validate.mjs FILE...
import SwaggerParser from '@apidevtools/swagger-parser';
import { Validator } from '@seriousme/openapi-schema-validator';
import { readFileSync } from 'node:fs';

let faults = 0;
const fault = (validator, file, text) => {
  faults += 1;
  console.error(`${file}: ${validator}: ${text}`);
};
for (const file of process.argv.slice(2)) {
  const document = JSON.parse(readFileSync(file, 'utf8'));
  const judged = await new Validator().validate(structuredClone(document));
  if (!judged.valid) fault('openapi-schema-validator', file, JSON.stringify(judged.errors));
  try {
    await SwaggerParser.validate(document);
  } catch (error) {
    fault('swagger-parser', file, error.message);
  }
}
console.log(`${process.argv.length - 2} descriptions, ${faults} faults`);
process.exitCode = faults ? 1 : 0;
